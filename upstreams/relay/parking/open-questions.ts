import { onAbort } from '../../../lib/abort.js'
import { errors, type McpError } from '../../../protocol/wire/errors.js'
import { faultOf, type Question } from '../questions/question.js'

interface OpenQuestion {
  readonly question: Question
  readonly bytes: number
  readonly resolve: (answer: object) => void
  readonly reject: (error: McpError) => void
}

/** The questions of one call that a client has not answered yet, under keys that are never used twice. */
export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>()
  #lastKey = 0

  get size (): number {
    return this.#open.size
  }

  /** Bytes that they take, as their askers say. */
  get bytes (): number {
    let bytes = 0
    for (const open of this.#open.values()) bytes += open.bytes
    return bytes
  }

  entries (): Array<[string, Question]> {
    return [...this.#open].map(([key, { question }]) => [key, question])
  }

  /** Settles with the answer. The signal takes the question back. */
  ask (question: Question, bytes: number, signal: AbortSignal): Promise<object> {
    const key = `question-${++this.#lastKey}`
    return new Promise<object>((resolve, reject) => {
      this.#open.set(key, { question, bytes, resolve, reject })
      onAbort(signal, () => {
        if (this.#open.delete(key)) reject(errors.cannotAsk(question.method, 'the question was taken back'))
      })
    })
  }

  /** Throws when a given answer does not have the form of one. Answers to questions that are not open are ignored. */
  check (given: Readonly<Record<string, unknown>>): void {
    for (const [key, { question }] of this.#open) {
      const fault = Object.hasOwn(given, key) ? faultOf(question, given[key]) : undefined
      if (fault !== undefined) throw errors.invalidParams(`inputResponses[${JSON.stringify(key)}]: ${fault}`)
    }
  }

  /** Answers the questions to which an answer is given; the others stay open. */
  answer (given: Readonly<Record<string, unknown>>): void {
    for (const [key, { resolve }] of this.#open) {
      if (!Object.hasOwn(given, key)) continue
      this.#open.delete(key)
      resolve(given[key] as object)
    }
  }

  /** The client will not answer: a form or page counts as cancelled, anything else is refused. */
  giveUp (reason: string): void {
    for (const { question: { method }, resolve, reject } of this.#open.values()) {
      if (method === 'elicitation/create') resolve({ action: 'cancel' })
      else reject(errors.cannotAsk(method, reason))
    }
    this.#open.clear()
  }
}
