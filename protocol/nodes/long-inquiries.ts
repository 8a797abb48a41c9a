import type { Cancellation } from '../../lib/abort.js'
import type { AnswererMessage, AskerMessage, LongQuestion, NodeMessage } from './message.js'
import type { Nodes } from './nodes.js'

/** In milliseconds: how often a node says that it still waits. */
const EVERY = 1_000
/** After how many such times in a row another node counts as gone: when it is not there, cannot be reached or has lost its lease, and when nothing is heard of it. */
const ABSENT = 3
const SILENT = 15

/** The answer; `absent` when the node is not there and has not got the question, `lost` when it may have got it and will not answer. */
export type LongOutcome = { readonly answer: unknown } | 'absent' | 'lost'

interface Waiting {
  readonly node: string
  readonly question: LongQuestion
  readonly onNews: (news: unknown) => void
  readonly settle: (outcome: LongOutcome) => void
  readonly fail: (error: Error) => void
  isDelivered: boolean
  isTaken: boolean
  absent: number
  failed: number
  silent: number
}

/**
 * Questions to other nodes whose answers may take as long as a call. No message has to arrive: the asker says again and again that it waits, which
 * makes the other node repeat its answer, or the asker its question. Answers are given by `LongAnswers`.
 */
export class LongInquiries {
  readonly #nodes: Nodes
  readonly #waiting = new Map<number, Waiting>()
  #timer: NodeJS.Timeout | undefined
  #last = 0

  readonly #every: number

  constructor (nodes: Nodes, every = EVERY) {
    this.#nodes = nodes
    this.#every = every
  }

  /** Begins to take answers; returns a function that ends it. */
  start (): () => void {
    const off = this.#nodes.onMessage((message, from) => this.#receive(message, from))
    return () => {
      off()
      clearInterval(this.#timer)
    }
  }

  /** Rejects when it is cancelled, of which the other node hears, and when the store fails for so long that the question cannot be sent. */
  async ask (node: string, question: LongQuestion, onNews: (news: unknown) => void, cancellation: Cancellation): Promise<LongOutcome> {
    cancellation.throwIfCancelled()
    const number = ++this.#last
    let off = (): void => {}
    const outcome = new Promise<LongOutcome>((resolve, reject) => {
      off = cancellation.on(reject)
      this.#waiting.set(number, { node, question, onNews, settle: resolve, fail: reject, isDelivered: false, isTaken: false, absent: 0, failed: 0, silent: 0 })
    })
    // It may be cancelled before it is awaited.
    outcome.catch(() => {})
    this.#timer ??= setInterval(() => this.#check(), this.#every).unref()
    try {
      void this.#ask(number)
      return await outcome
    } finally {
      off()
      this.#remove(number)
      this.#say(node, number, 'done').catch(() => {})
    }
  }

  async #ask (number: number): Promise<void> {
    const waiting = this.#waiting.get(number)
    if (waiting === undefined) return
    const { node, question } = waiting
    try {
      if (await this.#say(node, number, { question })) waiting.isDelivered = true
      // A node that connects again to the store has no listener for a moment.
      else if (!await this.#nodes.isAlive(node)) waiting.settle(goneOf(waiting))
    } catch (error) {
      noteFailure(waiting, error as Error)
    }
  }

  #check (): void {
    const nodes = new Map<string, Map<number, Waiting>>()
    for (const [number, waiting] of this.#waiting) {
      if (++waiting.silent > SILENT) waiting.settle(goneOf(waiting))
      else nodes.set(waiting.node, (nodes.get(waiting.node) ?? new Map()).set(number, waiting))
    }
    for (const [node, waiting] of nodes) void this.#remind(node, waiting)
  }

  async #remind (node: string, waiting: ReadonlyMap<number, Waiting>): Promise<void> {
    try {
      const isThere = await this.#nodes.send(node, { kind: 'waits', numbers: [...waiting.keys()] })
      for (const one of waiting.values()) notePresence(one, isThere)
      // A process that hangs keeps its connection to the store.
      const silent = [...waiting.values()].filter(one => one.silent > ABSENT)
      if (silent.length > 0 && !await this.#nodes.isAlive(node)) for (const one of silent) one.settle(goneOf(one))
    } catch (error) {
      for (const one of waiting.values()) noteFailure(one, error as Error)
    }
  }

  #receive (message: NodeMessage, from: string): void {
    if (message.kind === 'works') for (const number of message.numbers) this.#take(number, from, 'works')
    else if (message.kind === 'answerer') this.#take(message.number, from, message.says)
  }

  #take (number: number, from: string, says: AnswererMessage['says'] | 'works'): void {
    const waiting = this.#waiting.get(number)
    if (waiting === undefined || waiting.node !== from) {
      // The other node has not heard that nothing is waited for.
      if (says !== 'unknown') this.#say(from, number, 'done').catch(() => {})
      return
    }
    waiting.silent = 0
    if (says === 'unknown') return this.#missed(number, waiting)
    waiting.isTaken = waiting.isDelivered = true
    if (says === 'works') return
    if ('answer' in says) waiting.settle(says)
    else waiting.onNews(says.news)
  }

  #missed (number: number, waiting: Waiting): void {
    if (waiting.isTaken) waiting.settle('lost')
    else void this.#ask(number)
  }

  #remove (number: number): void {
    this.#waiting.delete(number)
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #say (node: string, number: number, says: AskerMessage['says']): Promise<boolean> {
    return await this.#nodes.send(node, { kind: 'asker', number, says })
  }
}

const goneOf = ({ isDelivered }: Waiting): LongOutcome => isDelivered ? 'lost' : 'absent'

function notePresence (waiting: Waiting, isThere: boolean): void {
  waiting.failed = 0
  waiting.absent = isThere ? 0 : waiting.absent + 1
  if (waiting.absent >= ABSENT) waiting.settle(goneOf(waiting))
}

function noteFailure (waiting: Waiting, error: Error): void {
  if (++waiting.failed >= ABSENT && !waiting.isDelivered) waiting.fail(error)
}
