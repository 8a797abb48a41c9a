import { isDeepStrictEqual } from 'node:util'
import { growingDelay } from '../../../lib/time.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection } from '../../ports.js'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/**
 * How long the former request stays open at most when the upstream does not acknowledge the next one, in milliseconds.
 */
const ACKNOWLEDGE_WITHIN = 5_000
/** The waits before a request is sent again that the upstream ended, in milliseconds. */
const RETRY = { first: 500, longest: 30_000 }

/**
 * One lasting `subscriptions/listen` of a connection to a stateless upstream. When something else is wanted, a new
 * request is sent and acknowledged before the former one ends, so that nothing is lost in between.
 */
export class ListenStream {
  readonly #connection: Connection
  readonly #resumed: () => void
  #wanted: Params = {}
  #open: { readonly wanted: Params, readonly end: AbortController } | undefined
  /** True until the latest request is acknowledged. */
  #isBeginning = false
  #retry: NodeJS.Timeout | undefined
  #failures = 0
  #closed = false

  /** `resumed` runs when the upstream had ended the stream and it is open again: changes may have been missed. */
  constructor (connection: Connection, resumed: () => void) {
    this.#connection = connection
    this.#resumed = resumed
  }

  /** Listens to these notifications from now on, to none when it is empty. */
  want (notifications: Params): void {
    this.#wanted = notifications
    if (this.#retry === undefined) this.#renew()
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#retry)
    this.#open?.end.abort()
  }

  #renew (): void {
    const former = this.#open
    const wanted = this.#wanted
    // Subscriptions wanted before the latest request is acknowledged are asked for afterwards, all at once.
    if (
      this.#closed ||
      this.#connection.closed ||
      this.#isBeginning ||
      (former !== undefined && isDeepStrictEqual(former.wanted, wanted))
    ) { return }
    if (Object.keys(wanted).length === 0) {
      this.#open = undefined
      return former?.end.abort()
    }
    const next = { wanted, end: new AbortController() }
    this.#open = next
    this.#isBeginning = true
    const settle = this.#onAcknowledged(wanted, isOpen => {
      this.#isBeginning = false
      former?.end.abort()
      if (isOpen) this.#begun()
    })
    this.#connection
      .request({ method: 'subscriptions/listen', params: { notifications: wanted }, signal: next.end.signal })
      .catch(() => {})
      .finally(() => {
        settle(false)
        if (this.#open === next) this.#ended()
      })
  }

  #begun (): void {
    if (this.#failures > 0) this.#resumed()
    this.#failures = 0
    this.#renew()
  }

  /**
   * Runs `settled` once: with true when the request is acknowledged or has been open for long, or with what the
   * returned function is given.
   */
  #onAcknowledged (wanted: Params, settled: (isOpen: boolean) => void): (isOpen: boolean) => void {
    let isSettled = false
    const settle = (isOpen: boolean): void => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      off()
      settled(isOpen)
    }
    const off = this.#connection.onNotification((method, { notifications }) => {
      if (method === ACKNOWLEDGED && isOf(wanted, notifications)) settle(true)
    })
    const timer = setTimeout(() => settle(true), ACKNOWLEDGE_WITHIN).unref()
    return settle
  }

  #ended (): void {
    this.#open = undefined
    if (this.#closed || this.#connection.closed) return
    const wait = growingDelay(RETRY.first, RETRY.longest, this.#failures++)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#renew()
    }, wait).unref()
  }
}

/**
 * True when what is acknowledged is of this request, and not of another of the connection: no two of them have a URI in
 * common.
 */
function isOf ({ resourceSubscriptions: wanted = [] }: Params, acknowledged: unknown): boolean {
  if (!isObject(acknowledged) || !Array.isArray(wanted)) return true
  const [first] = Array.isArray(acknowledged.resourceSubscriptions)
    ? (acknowledged.resourceSubscriptions as unknown[])
    : []
  return first === undefined ? wanted.length === 0 : wanted.includes(first)
}
