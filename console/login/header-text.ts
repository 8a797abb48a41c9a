/** True for a credential that can be sent: `fetch` throws for a header with characters outside of Latin-1, and keys and tokens are ASCII without spaces. */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)
