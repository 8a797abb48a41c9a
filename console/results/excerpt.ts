/** So much of a text is shown at once: a browser takes 35 ms for 100 KiB, and half a second for 1 MiB. */
export const SHOWN_BYTES = 102_400

const encoder = new TextEncoder()
const bytes = new Uint8Array(SHOWN_BYTES)

/** The beginning of a text: so many times 100 KiB of it, never cut inside a character. */
export function beginning (text: string, times: number): string {
  let end = 0
  for (let time = 0; time < times && end < text.length; time++) {
    // A UTF-16 unit takes a byte or more in UTF-8, so no more of them can fit.
    end += encoder.encodeInto(text.slice(end, end + SHOWN_BYTES), bytes).read
  }
  return text.slice(0, end)
}

/** Blocks of so many characters, or one line if that is longer, are laid out only when they are seen. */
const BLOCK = 4_096

/** Cuts a text after ends of lines, so that its blocks below each other look like the whole. */
export function blocksOf (text: string): string[] {
  const blocks: string[] = []
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from + BLOCK) + 1
    blocks.push(text.slice(from, end === 0 ? undefined : end))
    from = end === 0 ? text.length : end
  }
  return blocks
}

/** How many bytes a text has in UTF-8, as it is saved. */
export const byteLength = (text: string): number => encoder.encode(text).length

/** A number of bytes for people: `4.0 MiB`. */
export function sizeWords (size: number): string {
  if (size < 1_024) return size === 1 ? '1 byte' : `${size} bytes`
  return size < 1_048_576 ? `${(size / 1_024).toFixed(1)} KiB` : `${(size / 1_048_576).toFixed(1)} MiB`
}
