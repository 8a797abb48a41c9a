/**
 * Takes tokens from a counter. Settles with 0 if there were enough, otherwise with the milliseconds until there are.
 */
export type Ask = (key: string, tokens: number) => Promise<number>

/** How often something may happen. */
export interface Rate {
  /** The thing that is counted. */
  name: string
  /** Tokens a second. */
  rate: number
  /** Tokens at once, after a time with less. */
  burst: number
}

/** How long fetched tokens may be used, in milliseconds. */
const LEASE = 1_000

interface Lease {
  left: number
  /** Until when the counter has no tokens. */
  emptyUntil: number
  waiting: Array<(ms: number) => void>
  asking: boolean
}

/**
 * Tokens by key, leased from a counter so that most calls need no promise. A lease is a thousandth of the tokens of a
 * second; the next is fetched when half is used, and the first is given in advance, so that a caller within its rate
 * never waits. If a thousandth is less than two, every token is fetched by itself and the count is exact. Keys that are
 * not used are removed.
 */
export class Bucket {
  readonly #ask: Ask
  readonly #size: number
  /** The number of tokens left at which the next are fetched; -1 if they are fetched one by one. */
  readonly #low: number
  readonly #leases = new Map<string, Lease>()
  #sweep: NodeJS.Timeout | undefined

  constructor (ask: Ask, rate: number) {
    this.#ask = ask
    this.#size = Math.max(1, Math.floor(rate / 1_000))
    this.#low = this.#size === 1 ? -1 : this.#size >> 1
  }

  /** How many keys are in use. */
  get size (): number {
    return this.#leases.size
  }

  /**
   * 0 if a token was taken, otherwise the milliseconds after which to try again. Callers that wait are served in order.
   */
  take (key: string): number | Promise<number> {
    const lease = this.#leases.get(key) ?? this.#open(key)
    if (lease.left === 0) return this.#fetch(key, lease)
    if (--lease.left === this.#low) this.#renew(key, lease)
    return 0
  }

  close (): void {
    clearTimeout(this.#sweep)
    this.#leases.clear()
  }

  #open (key: string): Lease {
    const lease = { left: Math.max(0, this.#low + 1), emptyUntil: 0, waiting: [], asking: false }
    this.#leases.set(key, lease)
    this.#sweep ??= setTimeout(() => this.#forget(), LEASE).unref()
    return lease
  }

  #fetch (key: string, lease: Lease): number | Promise<number> {
    const empty = lease.emptyUntil - performance.now()
    if (empty > 0) return empty
    return new Promise(resolve => {
      lease.waiting.push(resolve)
      this.#renew(key, lease)
    })
  }

  #renew (key: string, lease: Lease): void {
    if (lease.asking) return
    lease.asking = true
    // Callers that wait would wait for ever, so that they are let through where it cannot be counted.
    void this.#ask(key, this.#size).catch(() => 0).then(ms => {
      lease.asking = false
      this.#serve(lease, ms)
      if (lease.waiting.length > 0) this.#renew(key, lease)
    })
  }

  #serve (lease: Lease, ms: number): void {
    lease.emptyUntil = ms === 0 ? 0 : performance.now() + ms
    if (ms === 0) lease.left += this.#size
    const served = lease.waiting.splice(0, ms === 0 ? lease.left : Infinity)
    if (ms === 0) lease.left -= served.length
    for (const settle of served) settle(ms)
  }

  #forget (): void {
    const now = performance.now()
    for (const [key, { asking, emptyUntil }] of this.#leases) if (!asking && emptyUntil < now) this.#leases.delete(key)
    this.#sweep = this.#leases.size === 0 ? undefined : setTimeout(() => this.#forget(), LEASE).unref()
  }
}
