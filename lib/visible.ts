/** Control characters, those that reorder or hide text, and half characters; line breaks are none of them. */
const HIDDEN = /(?!\n)[\p{C}\u2028\u2029]/gu

/** The text with what a terminal might obey, or a reader not see, as `\u{1b}`. */
export const visible = (text: string): string => text.replace(HIDDEN, letter => `\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`)
