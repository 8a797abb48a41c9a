import { randomBytes } from 'node:crypto'
import { Counter } from '../../lib/counter.js'
import { digestOf } from './api-key.js'

interface Issued<T> { holder: T, owner: string, until: number }

const MAX_TICKETS = 10_000
/** The most unused tickets of one owner. */
export const MAX_PER_OWNER = 100

/** Tickets, each of which identifies its holder once and for a short time. Only their hashes are stored. */
export class Tickets<T> {
  readonly #lifetime: number
  readonly #now: () => number
  readonly #timeOfDay: () => number
  readonly #issued = new Map<string, Issued<T>>()
  readonly #countByOwner = new Counter()

  /** Lifetimes are measured with a monotonic clock (`now`); the expiry of the holder's credential is a time of day. */
  constructor (lifetimeMs: number, now: () => number = () => performance.now(), timeOfDay: () => number = Date.now) {
    this.#lifetime = lifetimeMs
    this.#now = now
    this.#timeOfDay = timeOfDay
  }

  get size (): number {
    return this.#issued.size
  }

  /** Undefined if there are too many unused tickets, in all or of this owner. */
  issue (holder: T, owner: string, expires = Infinity): { ticket: string, expiresIn: number } | undefined {
    const now = this.#now()
    this.#sweep(now)
    if (this.#issued.size >= MAX_TICKETS || this.#countByOwner.get(owner) >= MAX_PER_OWNER) return undefined
    const ticket = randomBytes(32).toString('base64url')
    const until = now + Math.min(this.#lifetime, expires - this.#timeOfDay())
    this.#issued.set(keyOf(ticket), { holder, owner, until })
    this.#countByOwner.increment(owner)
    return { ticket, expiresIn: Math.max(0, Math.round(until - now)) }
  }

  /** The holder of a ticket, which is used up by this; undefined if it is not valid. */
  redeem (ticket: string): T | undefined {
    const key = keyOf(ticket)
    const issued = this.#issued.get(key)
    if (issued === undefined) return undefined
    this.#forget(key, issued)
    return issued.until > this.#now() ? issued.holder : undefined
  }

  #sweep (now: number): void {
    // They are in the order of issue, and so nearly in the order of expiry; one that expires early is removed a little
    // later.
    for (const [key, issued] of this.#issued) {
      if (issued.until > now) return
      this.#forget(key, issued)
    }
  }

  #forget (key: string, { owner }: Issued<T>): void {
    this.#issued.delete(key)
    this.#countByOwner.decrement(owner)
  }
}

const keyOf = (ticket: string): string => digestOf(ticket).toString('base64')
