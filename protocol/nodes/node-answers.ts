import { Cancellation } from '../../lib/abort.js'
import type { NodeMessage, NodeReply, NodeRequest, NodeRequests } from './message.js'

/** For how many beats a node that says nothing counts as there. */
export const SILENT = 15

/**
 * Answers a request. The cancellation says that the answer is not wanted any more. One that rejects gives no answer:
 * the request may have run.
 */
export type NodeHandler<K extends keyof NodeRequests> = (
  body: NodeRequests[K],
  onProgress: (progress: unknown) => void,
  cancellation: Cancellation
) => Promise<unknown>

interface Running {
  readonly from: string
  readonly number: number
  readonly cancellation: Cancellation
  /** Undefined while the handler runs. */
  outcome: { readonly answer: unknown } | 'failed' | undefined
  /** For how many beats nothing was heard of the node that asks. */
  silent: number
}

/**
 * The answers of a node to the requests of others. An answer is repeated until the other node has it; the handler is
 * cancelled when that does not wait any more.
 */
export class NodeAnswers {
  readonly #send: (node: string, message: NodeMessage) => void
  readonly #handlers = new Map<string, NodeHandler<keyof NodeRequests>>()
  readonly #running = new Map<string, Running>()
  #finished: Array<() => void> = []

  constructor (send: (node: string, message: NodeMessage) => void) {
    this.#send = send
  }

  get size (): number {
    return this.#running.size
  }

  on<K extends keyof NodeRequests> (kind: K, handler: NodeHandler<K>): void {
    this.#handlers.set(kind, handler as NodeHandler<keyof NodeRequests>)
  }

  /** Takes a message of a node that asks. */
  receive (message: NodeMessage, from: string): void {
    if (message.kind === 'request') this.#begin(from, message.number, message.request)
    else if (message.kind === 'waits') this.#repeat(from, message.numbers)
    else if (message.kind === 'done') this.#end(from, message.number, message.again)
    else if (message.kind === 'broadcast') this.#run(message.request, () => {}, new Cancellation()).catch(() => {})
  }

  /**
   * Gives up what is not waited for any more. Beats are counted, not timed: when this process could do nothing for
   * long, the messages of that time come after one beat.
   */
  check (): void {
    for (const [key, running] of this.#running) {
      if (++running.silent <= SILENT) continue
      if (running.outcome !== undefined) this.#running.delete(key)
      else this.#giveUp(running, 'the node of the client has ended')
    }
  }

  /** Settles when no handler runs whose answer is waited for. */
  async finished (): Promise<void> {
    if (this.#isWorking()) await new Promise<void>(resolve => { this.#finished.push(resolve) })
  }

  close (): void {
    for (const running of this.#running.values()) this.#giveUp(running, 'the server is shutting down')
    this.#running.clear()
  }

  #begin (from: string, number: number, request: NodeRequest): void {
    const key = keyOf(from, number)
    if (this.#running.has(key)) return this.#repeat(from, [number])
    const running: Running = { from, number, cancellation: new Cancellation(), outcome: undefined, silent: 0 }
    this.#running.set(key, running)
    // An answer of the same turn says so, too.
    setImmediate(() => { if (running.outcome === undefined) this.#send(from, { kind: 'works', numbers: [number] }) })
    this.#run(
      request,
      progress => {
        if (running.outcome === undefined) this.#reply(running, { progress })
      },
      running.cancellation
    ).then(
      answer => this.#settle(running, { answer: answer ?? null }),
      () => this.#settle(running, 'failed')
    )
  }

  async #run (
    { kind, body }: NodeRequest,
    onProgress: (progress: unknown) => void,
    cancellation: Cancellation
  ): Promise<unknown> {
    const handler = this.#handlers.get(kind)
    if (handler === undefined) throw new Error(`no handler for ${kind}`)
    return await handler(body, onProgress, cancellation)
  }

  #settle (running: Running, outcome: NonNullable<Running['outcome']>): void {
    if (running.outcome !== undefined) return
    running.outcome = outcome
    this.#reply(running, outcome)
    this.#noteFinished()
  }

  #repeat (from: string, numbers: readonly number[]): void {
    const works = numbers.filter(number => {
      const running = this.#running.get(keyOf(from, number))
      if (running === undefined) this.#reply({ from, number }, 'unknown')
      else running.silent = 0
      if (running?.outcome !== undefined) this.#reply(running, running.outcome)
      return running !== undefined && running.outcome === undefined
    })
    if (works.length > 0) this.#send(from, { kind: 'works', numbers: works })
  }

  /** A request that was sent again may still come: it is remembered, so that it does not run again. */
  #end (from: string, number: number, again: boolean): void {
    const running = this.#running.get(keyOf(from, number))
    if (running === undefined) return
    if (running.outcome === undefined) running.cancellation.cancel(new Error('the client left'))
    running.outcome = 'failed'
    if (!again) this.#running.delete(keyOf(from, number))
    this.#noteFinished()
  }

  // It is remembered for as long again, so that the request does not run again.
  #giveUp (running: Running, reason: string): void {
    running.silent = 0
    this.#settle(running, 'failed')
    running.cancellation.cancel(new Error(reason))
  }

  #noteFinished (): void {
    if (this.#finished.length === 0 || this.#isWorking()) return
    for (const resolve of this.#finished.splice(0)) resolve()
  }

  #isWorking (): boolean {
    for (const { outcome } of this.#running.values()) if (outcome === undefined) return true
    return false
  }

  #reply ({ from, number }: Pick<Running, 'from' | 'number'>, reply: NodeReply): void {
    this.#send(from, { kind: 'reply', number, reply })
  }
}

const keyOf = (from: string, number: number): string => `${from} ${number}`
