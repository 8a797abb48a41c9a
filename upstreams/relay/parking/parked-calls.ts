import { randomUUID } from 'node:crypto'
import { Counter } from '../../../lib/counter.js'
import { now } from '../../../lib/time.js'
import { errors, type McpError } from '../../../protocol/wire/errors.js'
import type { ForwardedRounds } from './round.js'

/** A call of an upstream that waits for answers of a client whose own request is answered already. */
export interface ParkedCall {
  readonly upstream: string
  readonly principal: string | undefined
  /** Ends it at the upstream: its result is not wanted any more. */
  end (reason: string): void
}

/** How many calls may be parked, for how many milliseconds, and how many bytes are kept for those of one upstream. */
export interface ParkingLimits {
  readonly parkedCallLifetime: number
  readonly maxParkedCalls: number
  readonly maxParkedCallsPerUpstream: number
  readonly maxParkedCallsPerCaller: number
  readonly maxParkedBytes: number
}

interface Waiting { readonly call: ParkedCall, readonly until: number }

/**
 * The calls of all upstreams that wait for answers of clients, by ids that are good for one use. One timer serves all.
 */
export class ParkedCalls {
  readonly limits: ParkingLimits
  /** Names this process: an id of another one is not looked up here. */
  readonly nonce: string = randomUUID()
  /** Goes on with calls that are parked at other nodes; undefined where there can be none. */
  readonly forwarded: ForwardedRounds | undefined
  /** With the bytes that are kept for each. */
  readonly #calls = new Map<ParkedCall, number>()
  readonly #bytes = new Map<string, number>()
  readonly #perUpstream = new Counter()
  readonly #perCaller = new Counter()
  // All wait equally long, so the first is the first to expire.
  readonly #waiting = new Map<string, Waiting>()
  #timer: NodeJS.Timeout | undefined

  constructor (limits: ParkingLimits, forwarded?: ForwardedRounds) {
    this.limits = limits
    this.forwarded = forwarded
  }

  /** How many calls have asked and are not over. */
  get size (): number {
    return this.#calls.size
  }

  /** Counts a call that asks its client, until `remove`. Returns why it may not. */
  add (call: ParkedCall): McpError | undefined {
    if (this.#calls.has(call)) return undefined
    const refusal = this.#refusal(call)
    if (refusal !== undefined) return refusal
    this.#calls.set(call, 0)
    this.#perUpstream.increment(call.upstream)
    this.#perCaller.increment(callerOf(call))
    return undefined
  }

  /**
   * Sets how many bytes are kept for a call that is counted. False when that is too much: the bytes stay as they were.
   */
  keep (call: ParkedCall, bytes: number): boolean {
    const before = this.#calls.get(call)
    if (before === undefined) return false
    const all = (this.#bytes.get(call.upstream) ?? 0) + bytes - before
    if (bytes > before && all > this.limits.maxParkedBytes) return false
    this.#calls.set(call, bytes)
    if (all > 0) this.#bytes.set(call.upstream, all)
    else this.#bytes.delete(call.upstream)
    return true
  }

  remove (call: ParkedCall): void {
    this.keep(call, 0)
    if (!this.#calls.delete(call)) return
    this.#perUpstream.decrement(call.upstream)
    this.#perCaller.decrement(callerOf(call))
  }

  /** Parks a call, until its id is taken or its time is up. */
  park (call: ParkedCall): string {
    const parkedId = randomUUID()
    this.#waiting.set(parkedId, { call, until: now() + this.limits.parkedCallLifetime })
    this.#schedule()
    return parkedId
  }

  /** The call that waits under this id. */
  get (parkedId: string): ParkedCall | undefined {
    return this.#waiting.get(parkedId)?.call
  }

  /** Makes an id worthless. */
  take (parkedId: string): void {
    this.#waiting.delete(parkedId)
    this.#schedule()
  }

  /** Ends the parked calls of one upstream, or all. */
  end (reason: string, upstream?: string): void {
    for (const [parkedId, { call }] of this.#waiting) {
      if (upstream === undefined || call.upstream === upstream) this.#end(parkedId, call, reason)
    }
    this.#schedule()
  }

  #end (parkedId: string, call: ParkedCall, reason: string): void {
    this.#waiting.delete(parkedId)
    this.remove(call)
    call.end(reason)
  }

  #expire (): void {
    this.#timer = undefined
    const moment = now()
    for (const [parkedId, { call, until }] of this.#waiting) {
      if (until > moment) break
      this.#end(parkedId, call, 'the client did not answer in time')
    }
    this.#schedule()
  }

  #schedule (): void {
    const [first] = this.#waiting.values()
    if (first === undefined) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= setTimeout(() => this.#expire(), Math.max(1, Math.ceil(first.until - now()))).unref()
  }

  #refusal (call: ParkedCall): McpError | undefined {
    const { maxParkedCalls, maxParkedCallsPerUpstream, maxParkedCallsPerCaller } = this.limits
    if (this.#calls.size >= maxParkedCalls) return errors.tooManyParked('maxParkedCalls', maxParkedCalls)
    if (this.#perUpstream.get(call.upstream) >= maxParkedCallsPerUpstream) {
      return errors.tooManyParked('maxParkedCallsPerUpstream', maxParkedCallsPerUpstream)
    }
    return this.#perCaller.get(callerOf(call)) >= maxParkedCallsPerCaller
      ? errors.tooManyParked('maxParkedCallsPerCaller', maxParkedCallsPerCaller)
      : undefined
  }
}

const callerOf = ({ principal }: ParkedCall): string => principal === undefined ? '' : `=${principal}`
