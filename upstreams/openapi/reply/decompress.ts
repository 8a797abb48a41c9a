import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/**
 * The stream that decompresses a reply of this Content-Encoding which begins with this chunk; undefined for an encoding
 * that is not known. It gives small pieces, so that what they become can be counted.
 */
export function decompressor (encoding: string, first: Buffer): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip': return createGunzip()
    case 'br': return createBrotliDecompress()
    // Some servers leave out the two bytes before it, of which the first has the method in its lower half.
    case 'deflate': return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()
    default: return undefined
  }
}

/** True for an encoding that changes nothing. */
export const isPlain = (encoding: string | undefined): boolean =>
  encoding === undefined || /^(identity)?$/i.test(encoding.trim())
