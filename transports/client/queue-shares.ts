/**
 * Divides the bytes that may wait to be sent among callers: each has at most half of what the others leave, the gateway
 * itself (undefined) all of it. One request of a caller may always wait, and counts for no more than the caller's
 * share, so that a large one takes nothing from the others.
 */
export class QueueShares {
  readonly #max: number
  readonly #callers = new Map<string | undefined, { bytes: number, requests: number }>()
  #bytes = 0

  constructor (max: number) {
    this.#max = max
  }

  /**
   * Counts a request of so many bytes. Returns what `leave` has to be called with, or undefined when it must not wait.
   */
  enter (caller: string | undefined, size: number): number | undefined {
    const own = this.#callers.get(caller)
    const left = Math.max(0, this.#max - this.#bytes + (own?.bytes ?? 0))
    const share = caller === undefined ? left : left / 2
    if (own !== undefined && own.bytes + size > share) return undefined
    const counted = Math.min(size, share)
    this.#bytes += counted
    if (own === undefined) this.#callers.set(caller, { bytes: counted, requests: 1 })
    else {
      own.bytes += counted
      own.requests++
    }
    return counted
  }

  leave (caller: string | undefined, counted: number): void {
    const own = this.#callers.get(caller)
    if (own === undefined) return
    this.#bytes -= counted
    own.bytes -= counted
    if (--own.requests === 0) this.#callers.delete(caller)
  }
}

/**
 * Divides in the same way the bytes that wait for one reader, in the order in which they were written: what was read of
 * them is known by how many are left.
 */
export class PipeShares {
  readonly #shares: QueueShares
  #written: Array<{ readonly caller: string | undefined, readonly size: number, readonly counted: number }> = []
  #bytes = 0

  constructor (max: number) {
    this.#shares = new QueueShares(max)
  }

  /** Counts a request that is written behind so many bytes. False when it must not be. */
  enter (caller: string | undefined, size: number, waiting: number): boolean {
    this.#forgetRead(waiting)
    const counted = this.#shares.enter(caller, size)
    if (counted === undefined) return false
    this.#written.push({ caller, size, counted })
    this.#bytes += size
    return true
  }

  #forgetRead (waiting: number): void {
    let read = 0
    for (const { caller, size, counted } of this.#written) {
      if (this.#bytes - size < waiting) break
      this.#shares.leave(caller, counted)
      this.#bytes -= size
      read++
    }
    if (read > 0) this.#written = this.#written.slice(read)
  }
}
