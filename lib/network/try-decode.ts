/** Decodes the percent-encoding of a part of a URI; undefined if it is not valid. */
export function tryDecode (encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
