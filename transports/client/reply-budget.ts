import { now } from '../../lib/time.js'
import type { Source } from './unasked-messages.js'

/** Replies that have fewer bytes yet are not counted. */
const SMALL = 65_536
/** So many bytes a caller may always be receiving, whatever others hold. */
const FAIR = 1_048_576
/** How often it is looked whether more may be read, while something waits, in milliseconds. */
const INTERVAL = 50
/** A reply whose turn it is keeps it while at least so many bytes come in so many milliseconds. */
const PROGRESS = 262_144
const WINDOW = 100

/** The replies of one caller, or of all. */
interface Scope {
  bytes: number
  /** The reply that is read on although the limit is reached, so that space becomes free. */
  chosen: IncomingReply | undefined
  /** The present window of the reply that is chosen. */
  since: number
  sizeThen: number
}

/** `turn` is the number of the latest turn that it had; the least has waited the longest. */
interface Caller extends Scope { replies: number, turn: number }

/**
 * Bounds how many bytes of incomplete replies of upstreams are held, for each caller and in all, by pausing what sends
 * them. Nothing fails by it.
 *
 * A caller may hold half of what the others leave, so that there is room for the next caller, whatever those before do
 * with theirs. Beyond its share, or its own limit, one reply at a time goes on. It does so to its end, which frees what
 * it holds, as long as it makes progress; a reply that comes slowly is soon followed by the next, callers in turn. What
 * slow replies add meanwhile is bounded by their slowness, because one of them is read at a time.
 */
export class ReplyBudget {
  readonly #max: number
  readonly #maxAll: number
  readonly #queued: () => number
  readonly #now: () => number
  readonly #callers = new Map<unknown, Caller>()
  readonly #all: Scope = { bytes: 0, chosen: undefined, since: 0, sizeThen: 0 }
  /** In the order in which they have become large. */
  readonly #replies = new Set<IncomingReply>()
  #turns = 0
  #queuedInTurn: number | undefined
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined

  /** `queued` is how many bytes wait for clients that have not read them; they count with those of all callers. */
  constructor (max: number, maxAll: number, queued: () => number = () => 0, clock = now) {
    this.#max = max
    this.#maxAll = maxAll
    this.#queued = queued
    this.#now = clock
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
    this.#all.bytes += grown
    this.#callerOf(reply).bytes += grown
    if (size === 0) this.#leave(reply)
    // While others wait, a turn is given by `#goOn` alone, in their order.
    else if (!reply.isPaused && !this.#mayGoOn(reply, this.#timer === undefined)) this.#pause(reply)
  }

  #enter (reply: IncomingReply): void {
    this.#replies.add(reply)
    const caller = this.#callers.get(reply.caller)
    if (caller === undefined) {
      this.#callers.set(reply.caller, { bytes: 0, chosen: undefined, since: 0, sizeThen: 0, replies: 1, turn: 0 })
    } else caller.replies++
  }

  #leave (reply: IncomingReply): void {
    const caller = this.#callerOf(reply)
    if (--caller.replies === 0) this.#callers.delete(reply.caller)
    if (caller.chosen === reply) caller.chosen = undefined
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
    // A reply that has kept more may end others.
    for (const reply of this.#waiting()) if (reply.isPaused && this.#mayGoOn(reply, true)) reply.resume()
    // A resumed reply may have got what was kept at once, and be paused again.
    for (const { isPaused } of this.#replies) if (isPaused) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Replies that are paused, the one first whose caller, and which itself, has waited the longest for a turn. */
  #waiting (): IncomingReply[] {
    const paused = [...this.#replies].filter(({ isPaused }) => isPaused)
    return paused.sort(
      (a, b) =>
        this.#callerOf(a).turn - this.#callerOf(b).turn ||
        a.turn - b.turn ||
        this.#callerOf(a).bytes - this.#callerOf(b).bytes
    )
  }

  #mayGoOn (reply: IncomingReply, mayBegin: boolean): boolean {
    const caller = this.#callerOf(reply)
    if (caller.bytes <= FAIR) return true
    if (2 * caller.bytes > this.#maxAll - this.#queuedNow() - (this.#all.bytes - caller.bytes)) {
      return this.#hasTurn(this.#all, reply, mayBegin)
    }
    return caller.bytes <= this.#max || this.#hasTurn(caller, reply, mayBegin)
  }

  /**
   * How many bytes wait for clients; looked up once in a turn of the event loop, because there may be thousands of
   * clients.
   */
  #queuedNow (): number {
    if (this.#queuedInTurn === undefined) {
      this.#queuedInTurn = this.#queued()
      setImmediate(() => { this.#queuedInTurn = undefined }).unref()
    }
    return this.#queuedInTurn
  }

  #hasTurn (scope: Scope, reply: IncomingReply, mayBegin: boolean): boolean {
    if (scope.chosen !== reply && mayBegin && isTurnOver(scope, this.#now())) {
      Object.assign(scope, { chosen: reply, since: this.#now(), sizeThen: reply.size })
      this.#callerOf(reply).turn = reply.turn = ++this.#turns
    }
    return scope.chosen === reply
  }

  #callerOf ({ caller }: IncomingReply): Caller {
    const known = this.#callers.get(caller)
    if (known === undefined) throw new Error('the reply is not counted')
    return known
  }
}

/** True when the reply that is chosen has made no progress in its window; if it has, the next window begins. */
function isTurnOver (scope: Scope, moment: number): boolean {
  const { chosen, since, sizeThen } = scope
  if (chosen === undefined) return true
  if (moment - since < WINDOW) return false
  if (chosen.size - sizeThen < PROGRESS) return true
  scope.since = moment
  scope.sizeThen = chosen.size
  return false
}

/** One reply, or what one stream has of its next message. */
export class IncomingReply {
  readonly caller: unknown
  readonly #budget: ReplyBudget
  readonly #source: Source
  size = 0
  isPaused = false
  /** The number of the latest turn that it had. */
  turn = 0

  /** `caller` is the one whose call is answered, or the link where that is not known before the message is complete. */
  constructor (budget: ReplyBudget, caller: unknown, source: Source) {
    this.#budget = budget
    this.caller = caller
    this.#source = source
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
    this.#source.resume()
  }
}

/** True for a reply that has to be counted. */
export const isLarge = (bytes: number): boolean => bytes > SMALL
