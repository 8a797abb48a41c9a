import fs from 'node:fs'

type Done = (error?: Error) => void

/** The most bytes that may wait for the reader. */
const TOO_MUCH = 4 * 1024 * 1024
const NOTHING = Buffer.alloc(0)
const LOST = 'too much waits for the reader of this stream'

/**
 * Writes bytes to a file descriptor in their order, without waiting. What the reader has not taken yet waits in memory,
 * up to a bound; a reader that is gone for good loses what is written.
 */
export class DescriptorWriter {
  readonly #fd: number
  #waiting: Buffer[] = []
  #size = 0
  /** How many bytes were taken, how many before `done` may run, and what was wrong with the last write. */
  #taken = 0
  #dones: Array<{ at: number, done: Done }> = []
  #error: Error | undefined

  /** A pipe or socket must be in non-blocking mode. */
  constructor (fd: number) {
    this.#fd = fd
  }

  /** The bytes that wait for the reader. */
  get size (): number {
    return this.#size
  }

  /** False when the bytes are lost, because too many wait already. They belong to the caller again when it returns. */
  write (bytes: Buffer): boolean {
    this.retry()
    const left = this.#size > 0 ? bytes : this.#offer(bytes)
    // A chunk that is partly written is kept whole, or a line would be cut.
    if (this.#size > 0 && this.#size + left.length > TOO_MUCH) return false
    if (left.length > 0) this.#waiting.push(Buffer.from(left))
    this.#size += left.length
    return true
  }

  /** Writes what waits, as far as it is taken. */
  retry (): void {
    while (this.#size > 0 && this.#offerFirst());
    const ready = this.#dones.findIndex(({ at }) => at > this.#taken)
    for (const { done } of this.#dones.splice(0, ready === -1 ? this.#dones.length : ready)) {
      process.nextTick(done, this.#error)
    }
  }

  /** Runs `done` when everything written so far was taken, or cannot be taken any more. */
  whenTaken (done: Done): void {
    if (this.#size === 0) process.nextTick(done, this.#error)
    else this.#dones.push({ at: this.#taken + this.#size, done })
  }

  static lost (): Error {
    return Object.assign(new Error(LOST), { code: 'ENOBUFS' })
  }

  /** Writes what the descriptor takes without blocking; returns the rest, or nothing when the reader is gone. */
  #offer (bytes: Buffer): Buffer {
    let taken = 0
    try {
      this.#error = undefined
      while (taken < bytes.length) taken += fs.writeSync(this.#fd, bytes, taken)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
        this.#error = error as Error
        return NOTHING
      }
    }
    return bytes.subarray(taken)
  }

  /** Writes the first chunk of the queue; true when all of it was written. */
  #offerFirst (): boolean {
    const [first] = this.#waiting as [Buffer]
    const left = this.#offer(first)
    this.#size -= first.length - left.length
    this.#taken += first.length - left.length
    if (left.length > 0) this.#waiting[0] = left
    else this.#waiting.shift()
    return left.length === 0
  }
}
