const TEXT_FRAME = 0x81
/** Values of the length byte of a frame when two or eight bytes with the length follow (RFC 6455, 5.2). */
const [IN_TWO_BYTES, IN_EIGHT_BYTES] = [126, 127]

/** One text frame for each message, in one buffer: not masked, not compressed, not fragmented. */
export function textFrames (texts: string[]): Buffer {
  const sizes = texts.map(text => Buffer.byteLength(text))
  const frames = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headerSize(size) + size, 0))
  let at = 0
  for (const [index, text] of texts.entries()) {
    const size = sizes[index] as number
    at = writeHeader(frames, at, size)
    frames.write(text, at)
    at += size
  }
  return frames
}

const headerSize = (size: number): number => size < IN_TWO_BYTES ? 2 : size < 65_536 ? 4 : 10

function writeHeader (frames: Buffer, at: number, size: number): number {
  frames[at] = TEXT_FRAME
  if (size < IN_TWO_BYTES) {
    frames[at + 1] = size
    return at + 2
  }
  if (size < 65_536) {
    frames[at + 1] = IN_TWO_BYTES
    return frames.writeUInt16BE(size, at + 2)
  }
  frames[at + 1] = IN_EIGHT_BYTES
  return frames.writeBigUInt64BE(BigInt(size), at + 2)
}
