/** Bytes in pieces of that size; one piece for 0. */
export function inPieces (bytes: Buffer, size: number): Buffer[] {
  if (size === 0) return [bytes]
  // Many thousand writes would only make the test slow.
  const step = Math.max(size, Math.ceil(bytes.length / 200))
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step))
  return pieces
}

/** The lines that a reader of stdio sees: without their ends, and without blank ones. */
export function linesOf (bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(10); start <= bytes.length; end = bytes.indexOf(10, start)) {
    const stop = end === -1 ? bytes.length : end
    const line = bytes.subarray(start, stop)
    // A return belongs to the end of the line; a line that is too long is too long with it.
    const text = line.at(-1) === 13 ? line.subarray(0, -1) : line
    if (!text.every(byte => byte === 32 || byte === 9 || byte === 13)) lines.push(text)
    start = stop + 1
  }
  return lines
}
