/** Reads the body of an HTTP response of at most `max` bytes after decompression. Beyond that it stops and throws what `tooLarge` returns. */
export async function readBounded ({ body }: Response, max: number, tooLarge: () => Error): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > max) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
