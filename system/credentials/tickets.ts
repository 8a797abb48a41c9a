import { randomBytes } from 'node:crypto'
import { digestOf } from './api-key.js'

interface Issued<T> { holder: T, owner: string, until: number }

const MAX_TICKETS = 10_000
const MAX_PER_OWNER = 100

/** Passes that are good once and for a short time, each for its holder. Only their hashes are kept. */
export class Tickets<T> {
  readonly #lifetime: number
  readonly #now: () => number
  readonly #timeOfDay: () => number
  readonly #issued = new Map<string, Issued<T>>()
  readonly #counts = new Map<string, number>()

  /** Lifetimes are measured on a clock that cannot be set; when a credential expires is said as a time of day. */
  constructor (lifetimeMs: number, now: () => number = () => performance.now(), timeOfDay: () => number = Date.now) {
    this.#lifetime = lifetimeMs
    this.#now = now
    this.#timeOfDay = timeOfDay
  }

  get size (): number {
    return this.#issued.size
  }

  /** Undefined when there are too many unused ones, in all or of this owner. */
  issue (holder: T, owner: string, expires = Infinity): { ticket: string, expiresIn: number } | undefined {
    const now = this.#now()
    this.#sweep(now)
    if (this.#issued.size >= MAX_TICKETS || this.#countOf(owner) >= MAX_PER_OWNER) return undefined
    const ticket = randomBytes(32).toString('base64url')
    const until = now + Math.min(this.#lifetime, expires - this.#timeOfDay())
    this.#issued.set(keyOf(ticket), { holder, owner, until })
    this.#counts.set(owner, this.#countOf(owner) + 1)
    return { ticket, expiresIn: Math.max(0, Math.round(until - now)) }
  }

  /** Whom a ticket lets in, once. */
  redeem (ticket: string): T | undefined {
    const key = keyOf(ticket)
    const issued = this.#issued.get(key)
    if (issued === undefined) return undefined
    this.#forget(key, issued)
    return issued.until > this.#now() ? issued.holder : undefined
  }

  #sweep (now: number): void {
    // In the order of their issue, and none is good for longer than the next; those that die early are found a little later.
    for (const [key, issued] of this.#issued) {
      if (issued.until > now) return
      this.#forget(key, issued)
    }
  }

  #forget (key: string, { owner }: Issued<T>): void {
    this.#issued.delete(key)
    const left = this.#countOf(owner) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }

  #countOf (owner: string): number {
    return this.#counts.get(owner) ?? 0
  }
}

const keyOf = (ticket: string): string => digestOf(ticket).toString('base64')
