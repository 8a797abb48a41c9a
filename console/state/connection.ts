import { signal } from '@preact/signals'
import type { Connection } from '../client/connect.js'
import { ConnectionLost, type Client, type Era } from '../client/contract.js'
import { closeInWords, EXPIRED, type Closing } from '../client/socket.js'

/** `since`, `until`: milliseconds since the epoch. */
export type Status =
  | { state: 'connecting', since: number, attempt: number }
  | { state: 'connected', since: number }
  | { state: 'waiting', since: number, until: number, why: string }
  | { state: 'login', since: number }

export const status = signal<Status>({ state: 'connecting', since: Date.now(), attempt: 0 })
export const era = signal<Era>('modern')
/** The open connection; undefined while there is none. */
export const client = signal<Client | undefined>(undefined)

const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 15_000

export interface Ports {
  open: (era: Era, onClosed: (closing: Closing) => void, signal: AbortSignal) => Promise<Connection>
  /** True for a rejection that only a login mends. */
  needsLogin: (error: unknown) => boolean
  random?: () => number
}

/** Keeps one connection open, and opens it again with growing delays. */
export class Reconnector {
  readonly #ports: Ports
  #connection: Connection | undefined
  /** Ends the attempt that was begun last. */
  #attempt = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  /** Grows with each attempt, so that a late end of an earlier one does nothing. */
  #turn = 0

  constructor (ports: Ports) {
    this.#ports = ports
  }

  /** Connects now, in place of whatever is open or waits: at the start, when the era was changed, after a login. */
  async connect (chosen: Era = era.peek()): Promise<void> {
    const turn = this.#begin()
    const since = status.peek().state === 'waiting' ? status.peek().since : Date.now()
    status.value = { state: 'connecting', since, attempt: this.#failures + 1 }
    try {
      const connection = await this.#ports.open(chosen, closing => this.#ended(turn, closing), this.#attempt.signal)
      if (turn !== this.#turn) { connection.close(); return }
      this.#connection = connection
      this.#failures = 0
      client.value = connection.client
      status.value = { state: 'connected', since: Date.now() }
    } catch (error) {
      if (turn === this.#turn) this.#failed(error)
    }
  }

  /** Closes the connection and stays closed until `connect`. */
  stop (): void {
    this.#begin()
    status.value = { state: 'login', since: Date.now() }
  }

  #begin (): number {
    clearTimeout(this.#timer)
    client.value = undefined
    this.#attempt.abort()
    this.#attempt = new AbortController()
    this.#connection?.close()
    this.#connection = undefined
    return ++this.#turn
  }

  #ended (turn: number, closing: Closing): void {
    if (turn !== this.#turn) return
    client.value = undefined
    this.#connection = undefined
    if (closing.code === EXPIRED) void this.connect()
    else this.#wait(closeInWords(closing))
  }

  #failed (error: unknown): void {
    if (this.#ports.needsLogin(error)) status.value = { state: 'login', since: Date.now() }
    else {
      this.#wait(
        error instanceof ConnectionLost
          ? error.message
          : `The gateway did not answer: ${error instanceof Error ? error.message : String(error)}`
      )
    }
  }

  #wait (why: string): void {
    const delay = delayAfter(this.#failures++, this.#ports.random ?? Math.random)
    const before = status.peek()
    const since = before.state === 'connecting' && this.#failures > 1 ? before.since : Date.now()
    status.value = { state: 'waiting', since, until: Date.now() + delay, why }
    this.#timer = setTimeout(() => { void this.connect() }, delay)
  }
}

/** Doubles with each failure, and is spread so that many pages do not come back at once. */
export function delayAfter (failures: number, random: () => number): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures) * (0.75 + random() / 2)
}
