/** Something that can wait for a connection. */
export interface Waiting { start (): void }

interface Share { active: number, readonly waiting: Set<Waiting> }

/**
 * Divides connections among callers: each has at most half of what the others leave, so that one is free for the next
 * caller, whatever those before do with theirs. Who has its share waits until one of its own, or enough of the others',
 * are free.
 */
export class SocketShares {
  readonly #connections: number
  readonly #shares = new Map<string, Share>()
  /** Callers with something that waits, in turn. */
  readonly #turn = new Set<string>()
  #active = 0
  #isStarting = false

  constructor (connections: number) {
    this.#connections = connections
  }

  /** Starts it now, or when the caller may have a connection. `end` has to be called once, in any case. */
  begin (caller: string, request: Waiting): void {
    const share = this.#shareOf(caller)
    if (this.#mayHave(share)) return this.#start(share, request)
    share.waiting.add(request)
    this.#turn.add(caller)
  }

  /** It is over, or is not wanted any more. */
  end (caller: string, request: Waiting): void {
    const share = this.#shareOf(caller)
    if (!share.waiting.delete(request)) {
      share.active--
      this.#active--
    }
    if (share.waiting.size === 0) this.#turn.delete(caller)
    if (share.active === 0 && share.waiting.size === 0) this.#shares.delete(caller)
    this.#startNext()
  }

  #shareOf (caller: string): Share {
    const known = this.#shares.get(caller)
    if (known !== undefined) return known
    const share = { active: 0, waiting: new Set<Waiting>() }
    this.#shares.set(caller, share)
    return share
  }

  /** The first connection is always there: the pool makes it wait if it has none. */
  #mayHave ({ active }: Share): boolean {
    return active === 0 || 2 * (active + 1) <= this.#connections - (this.#active - active)
  }

  #start (share: Share, request: Waiting): void {
    share.active++
    this.#active++
    request.start()
  }

  /**
   * A request may fail while it is started, which ends it: the loop goes on with the next, and not a call inside of a
   * call.
   */
  #startNext (): void {
    if (this.#isStarting) return
    this.#isStarting = true
    for (let caller = this.#nextCaller(); caller !== undefined; caller = this.#nextCaller()) {
      const share = this.#shareOf(caller)
      const [request] = share.waiting
      this.#turn.delete(caller)
      if (request === undefined) continue
      share.waiting.delete(request)
      // Behind the others.
      if (share.waiting.size > 0) this.#turn.add(caller)
      this.#start(share, request)
    }
    this.#isStarting = false
  }

  #nextCaller (): string | undefined {
    for (const caller of this.#turn) if (this.#mayHave(this.#shareOf(caller))) return caller
    return undefined
  }
}
