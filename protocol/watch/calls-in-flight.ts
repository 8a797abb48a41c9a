import type { Call } from '../dispatch/call.js'
import { subjectOf } from '../dispatch/call-facts.js'
import type { Activities } from './activities.js'
import type { CallInFlight, Unwritten } from './batch.js'
import type { ClientNames } from './client-names.js'
import type { Row } from './row.js'

/** The most rows of a table. */
const MOST = 200

/** Makes rows of the calls in flight, and remembers how far they are. */
export class CallsInFlight {
  readonly #progress = new Map<Call, { progress: number, total?: number }>()
  readonly #keys = new WeakMap<Call, string>()
  readonly #activities: Activities
  readonly #names: ClientNames
  #lastKey = 0

  constructor (activities: Activities, names: ClientNames) {
    this.#activities = activities
    this.#names = names
  }

  /** A call has reported progress. */
  note (call: Call, done: number, total: number | undefined): void {
    if (!call.response.isClosed && Number.isFinite(done)) {
      this.#progress.set(call, { progress: done, ...(Number.isFinite(total) && { total: total as number }) })
    }
  }

  end (call: Call): void {
    if (this.#progress.size > 0) this.#progress.delete(call)
  }

  /** The first of these calls; `epoch` is the time at which the monotonic clock was 0. */
  rows (calls: readonly Call[], epoch: number): Row[] {
    return calls.slice(0, MOST).map(call => {
      const { tool, prompt, resource, upstream } = subjectOf(call)
      const { method, principal, client, peer, revision: { version: revision }, awaitedQuestion: question } = call
      const row: Unwritten<Omit<CallInFlight, 'own'>> = {
        key: this.#keyOf(call),
        startedAt: Math.round(epoch + call.response.startedAt),
        method,
        tool,
        prompt,
        resource,
        upstream,
        principal,
        client: this.#names.of(client),
        transport: peer.transport,
        revision,
        ...this.#progress.get(call),
        question
      }
      return { json: JSON.stringify(row), owner: this.#activities.of(peer) }
    })
  }

  #keyOf (call: Call): string {
    const key = this.#keys.get(call) ?? `c${++this.#lastKey}`
    this.#keys.set(call, key)
    return key
  }
}
