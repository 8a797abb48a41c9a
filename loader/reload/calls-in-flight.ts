import type { FastifyInstance } from 'fastify'
import type { Call } from '../../protocol/dispatch/call.js'

/** Knows which calls are in flight, to wait for those that may run old code. */
export class CallsInFlight {
  readonly #grace: number
  readonly #calls = new Set<Call>()
  readonly #waiting = new Set<{ calls: Set<Call>, end: () => void }>()

  /** `grace` is how long calls are waited for, in milliseconds: some last as long as their client wants. */
  constructor (mcp: Pick<FastifyInstance['mcp'], 'onBegin' | 'onEnd'>, grace: number) {
    this.#grace = grace
    mcp.onBegin(call => { this.#calls.add(call) })
    mcp.onEnd(call => this.#remove(call))
  }

  /** Resolves when every call is answered that is in flight now, or after the grace period. */
  async waitForEnd (): Promise<void> {
    if (this.#calls.size === 0) return
    await new Promise<void>(resolve => {
      const one = { calls: new Set(this.#calls), end: resolve }
      this.#waiting.add(one)
      setTimeout(() => this.#finish(one), this.#grace).unref()
    })
  }

  #remove (call: Call): void {
    this.#calls.delete(call)
    for (const one of this.#waiting) {
      one.calls.delete(call)
      if (one.calls.size === 0) this.#finish(one)
    }
  }

  #finish (one: { calls: Set<Call>, end: () => void }): void {
    this.#waiting.delete(one)
    one.end()
  }
}
