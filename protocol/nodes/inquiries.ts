import { withTimeout } from '../../lib/time.js'
import type { NodeMessage, NodeQuestion, NodeQuestions } from './message.js'
import type { Nodes } from './nodes.js'

/** How long an answer of another node is waited for, in milliseconds. */
const TIMEOUT = 500
/** How long the node of a session may take to confirm a message of a client, in milliseconds: a busy node may take seconds. */
export const DELIVERY_TIMEOUT = 10_000

type Handler = (question: NodeQuestion) => Promise<unknown>

/** Questions of nodes to each other. */
export class Inquiries {
  readonly #nodes: Nodes
  readonly #handlers = new Map<NodeQuestion['kind'], Handler>()
  readonly #pending = new Map<number, { node: string, resolve: (answer: unknown) => void }>()
  #last = 0

  constructor (nodes: Nodes) {
    this.#nodes = nodes
  }

  /** How many answers are waited for. */
  get size (): number {
    return this.#pending.size
  }

  /** Begins to take questions and answers; returns a function that ends it. */
  start (): () => void {
    return this.#nodes.onMessage((message, from) => this.#receive(message, from))
  }

  /** Answers the questions of a kind. */
  on<K extends keyof NodeQuestions> (kind: K, handler: (question: NodeQuestions[K]) => Promise<unknown>): void {
    this.#handlers.set(kind, handler as Handler)
  }

  /** The answer of a node; undefined when it is not there or does not answer in time. Rejects when the store fails. */
  async ask (node: string, question: NodeQuestion, timeout = TIMEOUT): Promise<unknown> {
    return (await this.deliver(node, question, timeout)).answer
  }

  /** Asks a node, and tells whether it was there, so that it may have heard the question. */
  async deliver (node: string, question: NodeQuestion, timeout: number): Promise<{ isThere: boolean, answer: unknown }> {
    const number = ++this.#last
    const answered = new Promise<unknown>(resolve => this.#pending.set(number, { node, resolve }))
    try {
      const isThere = await this.#nodes.send(node, { kind: 'question', number, question })
      return { isThere, answer: isThere ? await withTimeout(answered, timeout, () => undefined) : undefined }
    } finally {
      this.#pending.delete(number)
    }
  }

  #receive (message: NodeMessage, from: string): void {
    if (message.kind === 'answer') this.#settle(message.number, message.answer, from)
    else if (message.kind === 'question') void this.#answer(message.number, message.question, from)
  }

  // Only the node that was asked can answer.
  #settle (number: number, answer: unknown, from: string): void {
    const pending = this.#pending.get(number)
    if (pending?.node === from) pending.resolve(answer)
  }

  // A question that cannot be answered is as if this node were not there.
  async #answer (number: number, question: NodeQuestion, from: string): Promise<void> {
    try {
      const answer = await this.#handlers.get(question.kind)?.(question)
      await this.#nodes.send(from, { kind: 'answer', number, answer })
    } catch {}
  }
}
