export type Json = Record<string, unknown>

/**
 * Requests over one connection, and their answers. Every client counts its ids from 0, so only the canaries
 * distinguish them.
 */
export class Ledger {
  answered = 0
  /** Answered with an error, or refused by HTTP. */
  refused = 0
  doubled = 0
  misrouted = 0
  readonly canary: string
  /** The first things that went wrong. */
  readonly faults: string[] = []
  readonly #open = new Map<number, { mark: string, asked: number }>()
  /** Those that were answered with an error: what ends after that is no second answer. */
  readonly #refused = new Set<number>()
  readonly #settled: (id: number, ms: number) => void
  #next = 0

  constructor (name: string, settled: (id: number, ms: number) => void = () => {}) {
    this.canary = `canary-${name}`
    this.#settled = settled
  }

  get sent (): number {
    return this.#next
  }

  /** Those without an answer. */
  get open (): number {
    return this.#open.size
  }

  /** The next id, and the text that must come back with its answer and with no other. */
  ask (): { id: number, mark: string } {
    const id = this.#next++
    const mark = `${this.canary}-${id}-end`
    this.#open.set(id, { mark, asked: performance.now() })
    return { id, mark }
  }

  /** Takes a message as it came. */
  receive (text: string): void {
    const { id, method, params, error } = JSON.parse(text) as {
      id?: number | string | null
      method?: string
      params?: Json
      error?: object
    }
    if (method !== undefined) return this.#notified(method, params, text)
    // The answer to a handshake.
    if (typeof id === 'string') return
    const mark = typeof id === 'number' ? this.#open.get(id)?.mark : undefined
    if (mark === undefined) return this.#unexpected(id, text)
    if (error !== undefined) return this.refuse(id as number)
    if (!text.includes(mark)) return this.#fault('misrouted', text)
    this.answered++
    this.#settle(id as number)
  }

  /** This call was cancelled, and gets no answer. */
  withdraw (id: number): void {
    if (this.#refused.has(id)) return
    if (!this.#open.has(id)) return this.#unexpected(id, 'the end of a cancelled call')
    this.answered++
    this.#settle(id)
  }

  /** The server refused this call. */
  refuse (id: number): void {
    if (!this.#open.has(id)) return this.#unexpected(id, 'a refusal')
    this.refused++
    this.#refused.add(id)
    this.#settle(id)
  }

  #settle (id: number): void {
    const asked = this.#open.get(id)?.asked ?? 0
    this.#open.delete(id)
    this.#settled(id, performance.now() - asked)
  }

  #notified (method: string, params: Json = {}, text: string): void {
    if (method === 'elicitation/create' && !String(params['message']).startsWith(`${this.canary}-`)) {
      this.#fault('misrouted', text)
    }
    if (method === 'notifications/progress' && !String(params['progressToken']).startsWith(`${this.canary}-`)) {
      this.#fault('misrouted', text)
    }
  }

  #unexpected (id: unknown, text: string): void {
    const foreign = text.includes('canary-') && !text.includes(`${this.canary}-`)
    this.#fault(typeof id === 'number' && id < this.#next && !foreign ? 'doubled' : 'misrouted', text)
  }

  #fault (kind: 'doubled' | 'misrouted', text: string): void {
    this[kind]++
    if (this.faults.length < 3) this.faults.push(`${this.canary}: ${kind}: ${text.slice(0, 200)}`)
  }
}
