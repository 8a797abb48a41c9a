import type { Handlers, JsonObject, Question } from './contract.js'

const METHODS = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const

/** True for what a server may ask its client. */
export const isQuestionMethod = (method: string): method is Question['method'] =>
  METHODS.some(known => known === method)

let lastId = 0

interface Answers { answer: (result: JsonObject) => void, refuse: (reason: string) => void }

/** The questions of one call that wait for an answer. */
export class OpenQuestions {
  readonly #handlers: Handlers
  readonly #open = new Set<string>()

  constructor (handlers: Handlers) {
    this.#handlers = handlers
  }

  /** Hands a question to the page; the first answer or refusal counts. Returns its id. */
  add (method: Question['method'], params: JsonObject, { answer, refuse }: Answers, key?: string): string {
    const id = `question-${++lastId}`
    const once = <T>(settle: (given: T) => void) => (given: T): void => { if (this.remove(id)) settle(given) }
    this.#open.add(id)
    this.#handlers.onQuestion?.({
      id,
      method,
      params,
      ...(key === undefined ? {} : { key }),
      answer: once(answer),
      refuse: once(refuse)
    })
    return id
  }

  /** False when it was not open any more. */
  remove (id: string): boolean {
    const was = this.#open.delete(id)
    if (was) this.#handlers.onQuestionGone?.(id)
    return was
  }

  removeAll (): void {
    for (const id of [...this.#open]) this.remove(id)
  }
}
