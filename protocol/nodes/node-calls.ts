import { setTimeout as sleep } from 'node:timers/promises'
import type { Cancellation } from '../../lib/abort.js'
import { withTimeout } from '../../lib/time.js'
import type { NodeMessage, NodeReply, NodeRequest, NodeRequests } from './message.js'
import { NodeAnswers, SILENT, type NodeHandler } from './node-answers.js'
import type { Nodes } from './nodes.js'

/**
 * How often a node says what it still waits for, in milliseconds; and how often during that a request is sent again
 * that no node received.
 */
const BEAT = 1_000
const SENDS = 10
/** After how many beats without a word it is looked whether the other node is alive. */
const SUSPECT = 3

/**
 * The end of a request: `absent` when the other node has not got it, `lost` when it may have got it and gives no
 * answer.
 */
export interface NodeOutcome { readonly outcome: 'answered' | 'absent' | 'lost', readonly answer?: unknown }

export interface NodeRequestOptions {
  /** Takes what the handler says before it answers. Progress may be lost. */
  readonly onProgress?: (progress: unknown) => void
  /** Makes the request reject, and cancels it at the other node. */
  readonly cancellation?: Cancellation
  /** After how many milliseconds the answer is not waited for any more. */
  readonly timeout?: number
}

interface Waiting {
  readonly node: string
  readonly request: NodeRequest
  readonly onProgress: ((progress: unknown) => void) | undefined
  readonly settle: (outcome: NodeOutcome | Promise<NodeOutcome>) => void
  /** How often it was sent to a node that may have got it. */
  copies: number
  /** True once the other node is known to have it. */
  isTaken: boolean
  /** Why it could not be sent the last time. */
  failure: Error | undefined
  /** For how many beats nothing was heard of it. */
  silent: number
}

/**
 * Requests to other nodes, and answers to theirs. No message has to arrive: a node says again and again which answers
 * it waits for, which makes the other repeat an answer, or say that it does not know the request. A handler runs at
 * most once for a request, however often that is sent.
 */
export class NodeCalls {
  readonly nodes: Nodes
  readonly #answers = new NodeAnswers((node, message) => this.#send(node, message))
  readonly #waiting = new Map<number, Waiting>()
  readonly #beat: number
  #last = 0

  constructor (nodes: Nodes, beat = BEAT) {
    this.nodes = nodes
    this.#beat = beat
  }

  /** How many answers are waited for, here and by other nodes. */
  get size (): number {
    return this.#waiting.size + this.#answers.size
  }

  /** Answers the requests of a kind. */
  on<K extends keyof NodeRequests> (kind: K, handler: NodeHandler<K>): void {
    this.#answers.on(kind, handler)
  }

  /**
   * Begins to take messages; returns a function that ends it, gives up what is waited for, and cancels what is being
   * answered.
   */
  start (): () => void {
    if (this.nodes.self === undefined) return () => {}
    const off = this.nodes.onMessage((message, from) => this.#receive(message, from))
    const timer = setInterval(() => this.#check(), this.#beat).unref()
    return () => {
      off()
      clearInterval(timer)
      this.#answers.close()
      for (const waiting of this.#waiting.values()) waiting.settle(endUnanswered(waiting))
    }
  }

  /** Settles when no request of another node is being answered. */
  async finished (): Promise<void> {
    await this.#answers.finished()
  }

  /**
   * Asks a node. Rejects when it is cancelled, and when the store fails for so long that the request cannot be sent.
   */
  async request<K extends keyof NodeRequests> (
    node: string,
    kind: K,
    body: NodeRequests[K],
    { onProgress, cancellation, timeout }: NodeRequestOptions = {}
  ): Promise<NodeOutcome> {
    cancellation?.throwIfCancelled()
    const number = ++this.#last
    let off: (() => void) | undefined
    const outcome = new Promise<NodeOutcome>((resolve, reject) => {
      off = cancellation?.on(reject)
      this.#waiting.set(number, {
        node,
        request: { kind, body },
        onProgress,
        settle: resolve,
        copies: 0,
        isTaken: false,
        failure: undefined,
        silent: 0
      })
    })
    const waiting = this.#waiting.get(number) as Waiting
    try {
      void this.#deliver(number, waiting)
      return await (timeout === undefined
        ? outcome
        : withTimeout(outcome, timeout, async () => await endUnanswered(waiting)))
    } finally {
      off?.()
      this.#waiting.delete(number)
      if (waiting.copies > 0) this.#send(node, { kind: 'done', number, again: waiting.copies > 1 })
    }
  }

  /** Gives all other nodes a request that is not answered. */
  async broadcast<K extends keyof NodeRequests> (kind: K, body: NodeRequests[K]): Promise<void> {
    await this.nodes.broadcast({ kind: 'broadcast', request: { kind, body } })
  }

  // A node that connects again to the store has no listener for a moment.
  async #deliver (number: number, waiting: Waiting): Promise<void> {
    const { node, request } = waiting
    for (; this.#waiting.has(number); await sleep(this.#beat / SENDS, undefined, { ref: false })) {
      waiting.copies++
      try {
        const isThere = await this.nodes.send(node, { kind: 'request', number, request })
        waiting.failure = undefined
        if (isThere) return
        waiting.copies--
        if (!await this.nodes.isAlive(node)) return waiting.settle(endUnanswered(waiting))
      } catch (error) {
        waiting.failure = error as Error
      }
    }
  }

  #check (): void {
    this.#answers.check()
    const nodes = new Map<string, Map<number, Waiting>>()
    for (const [number, waiting] of this.#waiting) {
      if (++waiting.silent > SILENT) waiting.settle(endUnanswered(waiting))
      else if (waiting.copies > 0) nodes.set(waiting.node, (nodes.get(waiting.node) ?? new Map()).set(number, waiting))
    }
    for (const [node, waiting] of nodes) void this.#remind(node, waiting)
  }

  // A process that hangs keeps its connection to the store. While the store fails, silence is counted.
  async #remind (node: string, waiting: ReadonlyMap<number, Waiting>): Promise<void> {
    try {
      const isThere = await this.nodes.send(node, { kind: 'waits', numbers: [...waiting.keys()] })
      const suspects = [...waiting.values()].filter(({ silent }) => !isThere || silent > SUSPECT)
      if (suspects.length > 0 && !(await this.nodes.isAlive(node))) {
        for (const one of suspects) one.settle(endUnanswered(one))
      }
    } catch {}
  }

  #receive (message: NodeMessage, from: string): void {
    if (message.kind === 'works') for (const number of message.numbers) this.#hear(number, from, 'works')
    else if (message.kind === 'reply') this.#hear(message.number, from, message.reply)
    else this.#answers.receive(message, from)
  }

  #hear (number: number, from: string, reply: NodeReply | 'works'): void {
    const waiting = this.#waiting.get(number)
    if (waiting?.node !== from) {
      // The other node has not heard that nothing is waited for.
      if (reply !== 'unknown' && reply !== 'failed') this.#send(from, { kind: 'done', number, again: true })
      return
    }
    waiting.silent = 0
    if (reply === 'failed' || (reply === 'unknown' && waiting.isTaken)) waiting.settle({ outcome: 'lost' })
    else if (reply === 'unknown') void this.#deliver(number, waiting)
    else waiting.isTaken = true
    if (typeof reply === 'string') return
    if ('answer' in reply) waiting.settle({ outcome: 'answered', answer: reply.answer })
    else waiting.onProgress?.(reply.progress)
  }

  // A message that is lost is made up for at the next beat.
  #send (node: string, message: NodeMessage): void {
    this.nodes.send(node, message).catch(() => {})
  }
}

/** Ends a request without an answer. Rejects when the store has failed. */
async function endUnanswered ({ copies, failure }: Waiting): Promise<NodeOutcome> {
  if (failure !== undefined) throw failure
  return { outcome: copies === 0 ? 'absent' : 'lost' }
}
