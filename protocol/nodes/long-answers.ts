import { Cancellation } from '../../lib/abort.js'
import type { AnswererMessage, LongQuestion, LongQuestions, NodeMessage } from './message.js'
import type { Nodes } from './nodes.js'

/** In milliseconds, how often it is looked whether askers still wait; and after how many times without a word an asker counts as gone. */
const EVERY = 5_000
const SILENT = 3

type Handler<Q> = (question: Q, onNews: (news: unknown) => void, cancellation: Cancellation) => Promise<unknown>

interface Running {
  readonly from: string
  readonly number: number
  readonly cancellation: Cancellation
  answer: { readonly answer: unknown } | undefined
  silent: number
}

/** Answers to the `LongInquiries` of other nodes. An answer is repeated until the asker has it; one that is not waited for any more is cancelled. */
export class LongAnswers {
  readonly #nodes: Nodes
  readonly #handlers = new Map<LongQuestion['kind'], Handler<LongQuestion>>()
  readonly #running = new Map<string, Running>()
  #timer: NodeJS.Timeout | undefined
  #finished: Array<() => void> = []

  readonly #every: number

  constructor (nodes: Nodes, every = EVERY) {
    this.#nodes = nodes
    this.#every = every
  }

  /** How many questions are being answered, or have answers that were not received yet. */
  get size (): number {
    return this.#running.size
  }

  /** Answers the questions of a kind. A handler does not reject; the cancellation says that the answer is not wanted any more. */
  on<K extends keyof LongQuestions> (kind: K, handler: Handler<LongQuestions[K]>): void {
    this.#handlers.set(kind, handler as Handler<LongQuestion>)
  }

  /** Begins to take questions; returns a function that ends it and cancels what is being answered. */
  start (): () => void {
    const off = this.#nodes.onMessage((message, from) => this.#receive(message, from))
    this.#timer = setInterval(() => this.#check(), this.#every).unref()
    return () => {
      off()
      clearInterval(this.#timer)
      for (const key of this.#running.keys()) this.#giveUp(key, 'the server is shutting down')
    }
  }

  /** Settles when no question is being answered. */
  async finished (): Promise<void> {
    if (this.#isWorking()) await new Promise<void>(resolve => { this.#finished.push(resolve) })
  }

  #receive (message: NodeMessage, from: string): void {
    if (message.kind === 'waits') return this.#repeat(from, message.numbers)
    if (message.kind !== 'asker') return
    const { number, says } = message
    const key = keyOf(from, number)
    if (says === 'done') this.#remove(key, new Error('the client left'))
    else if (this.#running.has(key)) this.#repeat(from, [number])
    else this.#begin(key, from, number, says.question)
  }

  #repeat (from: string, numbers: readonly number[]): void {
    const works = numbers.filter(number => {
      const running = this.#running.get(keyOf(from, number))
      if (running === undefined) this.#say(from, number, 'unknown')
      else running.silent = 0
      if (running?.answer !== undefined) this.#say(from, number, running.answer)
      return running !== undefined && running.answer === undefined
    })
    if (works.length > 0) this.#send(from, { kind: 'works', numbers: works })
  }

  #begin (key: string, from: string, number: number, question: LongQuestion): void {
    const handler = this.#handlers.get(question.kind)
    if (handler === undefined) return this.#say(from, number, 'unknown')
    const running: Running = { from, number, cancellation: new Cancellation(), answer: undefined, silent: 0 }
    this.#running.set(key, running)
    this.#send(from, { kind: 'works', numbers: [number] })
    handler(question, news => this.#say(from, number, { news }), running.cancellation)
      .then(answer => this.#answer(key, running, answer), () => this.#giveUp(key, 'it could not be answered'))
  }

  #answer (key: string, running: Running, answer: unknown): void {
    if (this.#running.get(key) !== running) return
    running.answer = { answer }
    this.#say(running.from, running.number, running.answer)
    this.#noteFinished()
  }

  // Counts ticks, not time: messages that came while this process was blocked are read before the next tick.
  #check (): void {
    for (const [key, running] of this.#running) if (++running.silent > SILENT) this.#giveUp(key, 'the node of the client has ended')
  }

  /** The asker need not find out by itself that there will be no answer. */
  #giveUp (key: string, reason: string): void {
    const { from, number, answer } = this.#running.get(key) ?? {}
    if (from !== undefined && number !== undefined && answer === undefined) this.#say(from, number, 'unknown')
    this.#remove(key, new Error(reason))
  }

  #remove (key: string, reason: Error): void {
    const running = this.#running.get(key)
    if (running === undefined) return
    this.#running.delete(key)
    if (running.answer === undefined) running.cancellation.cancel(reason)
    this.#noteFinished()
  }

  #noteFinished (): void {
    if (this.#finished.length === 0 || this.#isWorking()) return
    const finished = this.#finished
    this.#finished = []
    for (const resolve of finished) resolve()
  }

  #isWorking (): boolean {
    for (const { answer } of this.#running.values()) if (answer === undefined) return true
    return false
  }

  #say (node: string, number: number, says: AnswererMessage['says']): void {
    this.#send(node, { kind: 'answerer', number, says })
  }

  // A message that is lost is asked for again.
  #send (node: string, message: NodeMessage): void {
    this.#nodes.send(node, message).catch(() => {})
  }
}

const keyOf = (from: string, number: number): string => `${from} ${number}`
