import { now } from '../../lib/time/clock.js'
import type { Source } from './unasked-messages.js'

/** Replies that have fewer bytes yet are not counted. */
const SMALL = 65_536
/** So many bytes a caller may always be receiving, whatever others hold. */
const FAIR = 1_048_576
/** How often it is looked whether more may be read, while something waits, in milliseconds. */
const INTERVAL = 50
/** After how many milliseconds without a byte a reply that may be read gives its precedence to the next. */
const STALLED = 1_000

/** The replies of one caller, or of all. */
interface Scope {
  bytes: number
  /** The reply that is read to its end although the limit is reached, so that space becomes free. */
  chosen: IncomingReply | undefined
}

/**
 * Bounds how many bytes of incomplete replies of upstreams are held, for each caller and in all, by pausing what sends them. Nothing fails by it:
 * beyond a limit one reply goes on to its end, that of the caller who holds the least; then the next does.
 */
export class ReplyBudget {
  readonly #max: number
  readonly #maxAll: number
  readonly #queued: () => number
  readonly #callers = new Map<unknown, Scope & { replies: number }>()
  readonly #all: Scope = { bytes: 0, chosen: undefined }
  /** In the order in which they have become large. */
  readonly #replies = new Set<IncomingReply>()
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined

  /** `queued` is how many bytes wait for clients that have not read them; they count with those of all callers. */
  constructor (max: number, maxAll: number, queued: () => number = () => 0) {
    this.#max = max
    this.#maxAll = maxAll
    this.#queued = queued
  }

  get bytes (): number {
    return this.#all.bytes
  }

  /** The reply has so many bytes now; 0 when it is complete or over. */
  update (reply: IncomingReply, size: number): void {
    const grown = size - reply.size
    if (grown === 0) return
    if (reply.size === 0) this.#enter(reply)
    reply.size = size
    reply.changedAt = now()
    this.#all.bytes += grown
    this.#scopeOf(reply).bytes += grown
    if (size === 0) this.#leave(reply)
    else if (!reply.isPaused && !this.#mayGoOn(reply)) this.#pause(reply)
  }

  #enter (reply: IncomingReply): void {
    this.#replies.add(reply)
    const scope = this.#callers.get(reply.caller)
    if (scope === undefined) this.#callers.set(reply.caller, { bytes: 0, chosen: undefined, replies: 1 })
    else scope.replies++
  }

  #leave (reply: IncomingReply): void {
    const scope = this.#scopeOf(reply)
    if (--scope.replies === 0) this.#callers.delete(reply.caller)
    if (scope.chosen === reply) scope.chosen = undefined
    if (this.#all.chosen === reply) this.#all.chosen = undefined
    this.#replies.delete(reply)
    if (reply.isPaused) reply.resume()
    // In a turn of its own: undici cannot resume a connection while it reads from another.
    if (this.#timer !== undefined) this.#immediate ??= setImmediate(() => this.#goOn())
  }

  #pause (reply: IncomingReply): void {
    reply.pause()
    this.#timer ??= setInterval(() => this.#goOn(), INTERVAL).unref()
  }

  #goOn (): void {
    clearImmediate(this.#immediate)
    this.#immediate = undefined
    for (const reply of this.#replies) if (reply.isPaused && this.#mayGoOn(reply)) reply.resume()
    // What was kept may have come at once, and be paused again.
    for (const { isPaused } of this.#replies) if (isPaused) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #mayGoOn (reply: IncomingReply): boolean {
    const scope = this.#scopeOf(reply)
    if (scope.bytes <= FAIR) return true
    if (this.#all.bytes + this.#queued() > this.#maxAll) return this.#choose(this.#all) === reply
    return scope.bytes <= this.#max || this.#choose(scope, reply.caller) === reply
  }

  #choose (scope: Scope, caller?: unknown): IncomingReply | undefined {
    if (scope.chosen?.isStalled === false) return scope.chosen
    let chosen: IncomingReply | undefined
    for (const reply of this.#replies) {
      if ((scope !== this.#all && reply.caller !== caller) || reply.isStalled) continue
      if (chosen === undefined || this.#scopeOf(reply).bytes < this.#scopeOf(chosen).bytes) chosen = reply
    }
    scope.chosen = chosen
    return chosen
  }

  #scopeOf ({ caller }: IncomingReply): Scope & { replies: number } {
    const scope = this.#callers.get(caller)
    if (scope === undefined) throw new Error('the reply is not counted')
    return scope
  }
}

/** One reply, or what one stream has of its next message. */
export class IncomingReply {
  readonly caller: unknown
  readonly #budget: ReplyBudget
  readonly #source: Source
  size = 0
  changedAt = 0
  isPaused = false

  /** `caller` is the one whose call is answered, or the link where that is not known before the message is complete. */
  constructor (budget: ReplyBudget, caller: unknown, source: Source) {
    this.#budget = budget
    this.caller = caller
    this.#source = source
  }

  /** True when it may be read, and nothing comes. */
  get isStalled (): boolean {
    return !this.isPaused && now() - this.changedAt > STALLED
  }

  /** So many bytes of it are there and not passed on. */
  update (bytes: number): void {
    this.#budget.update(this, bytes > SMALL ? bytes : 0)
  }

  pause (): void {
    this.isPaused = true
    this.#source.pause()
  }

  resume (): void {
    this.isPaused = false
    this.changedAt = now()
    this.#source.resume()
  }
}

/** True for a reply that has to be counted. */
export const isLarge = (bytes: number): boolean => bytes > SMALL
