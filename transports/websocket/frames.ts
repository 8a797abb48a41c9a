import type { Readable } from 'node:stream'

const CONTROL = 8
const MASKED = 0x80
const FINAL = 0x80
/** A length that is said in eight bytes. */
const LONG = 127

/**
 * Follows WebSocket frames by their headers alone, and knows since when something is under way that is not complete.
 */
export class Frames {
  readonly #head = Buffer.alloc(14)
  /** Bytes of the header that are there, and bytes of the payload that are not. */
  #have = 0
  #left = 0
  /** A message whose last fragment has not come. */
  #fragmented = false
  #since: number | undefined

  /** When the first byte came of what is not complete; control frames in between are not what is waited for. */
  get since (): number | undefined {
    return this.#since
  }

  push (chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) at = this.#skip(chunk.length, at)
      else at = this.#have === 0 ? this.#wholeFrame(chunk, at) : this.#readHead(chunk[at] as number, at)
    }
    if (this.#fragmented || this.#have > 0 || this.#left > 0) this.#since ??= performance.now()
  }

  /** Nearly all frames are small and come whole. */
  #wholeFrame (chunk: Uint8Array, at: number): number {
    const first = chunk[at] as number
    const second = chunk[at + 1] ?? LONG
    const size = second & 0x7f
    const end =
      at +
      (second & MASKED ? 6 : 2) +
      (size === 126 ? 2 + (((chunk[at + 2] as number) << 8) | (chunk[at + 3] as number)) : size)
    if (size === LONG || !(end <= chunk.length)) return this.#readHead(first, at)
    this.#complete(first)
    return end
  }

  #skip (end: number, at: number): number {
    const skipped = Math.min(this.#left, end - at)
    this.#left -= skipped
    if (this.#left === 0) this.#complete(this.#head[0] as number)
    return at + skipped
  }

  #readHead (byte: number, at: number): number {
    this.#head[this.#have++] = byte
    if (this.#have >= 2 && this.#have === headSize(this.#head)) {
      this.#left = payloadSize(this.#head)
      this.#have = 0
      if (this.#left === 0) this.#complete(this.#head[0] as number)
    }
    return at + 1
  }

  #complete (first: number): void {
    if ((first & 0x0f) < CONTROL) this.#fragmented = (first & FINAL) === 0
    if (!this.#fragmented) this.#since = undefined
  }
}

/**
 * Runs `late` when something that has begun is not complete after `timeout`, whatever comes between its parts and
 * however slowly. The bytes are watched, and not what the WebSocket says of them, because it says nothing before a
 * message is complete. Returns how to stop.
 */
export function watchAssembly (bytes: Readable, timeout: number, late: () => void): () => void {
  const frames = new Frames()
  let timer: NodeJS.Timeout | undefined
  const isLate = () => frames.since !== undefined && frames.since + timeout <= performance.now()
  const look = () => {
    timer = undefined
    if (frames.since === undefined) return
    // Whatever has come while we were busy is read first.
    if (isLate()) setImmediate(() => isLate() ? late() : arm())
    else arm()
  }
  const arm = () => {
    if (frames.since !== undefined) {
      timer ??= setTimeout(look, Math.max(1, Math.ceil(frames.since + timeout - performance.now()))).unref()
    }
  }
  const read = (chunk: Uint8Array) => {
    frames.push(chunk)
    arm()
  }
  bytes.on('data', read)
  return () => {
    clearTimeout(timer)
    bytes.off('data', read)
  }
}

const lengthSize = (head: Buffer): number => ({ 126: 2, 127: 8 })[(head[1] as number) & 0x7f] ?? 0

const headSize = (head: Buffer): number => 2 + lengthSize(head) + (((head[1] as number) & MASKED) === 0 ? 0 : 4)

function payloadSize (head: Buffer): number {
  const size = lengthSize(head)
  if (size === 0) return (head[1] as number) & 0x7f
  return size === 2 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
}
