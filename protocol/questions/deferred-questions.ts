import type { Params } from '../wire/jsonrpc.js'
import type { CallTrace } from '../wire/trace.js'

/** Is told of each question when it is answered or given up; `deferred` when it leaves with the result of its call. */
export interface QuestionObserver {
  notify (question: { method: string, outcome: 'answered' | 'error' | 'cancelled' | 'deferred', ms: number }): void
}

/** The questions of a call that leave with its result. Keeps nothing of the call but its span. */
export class DeferredQuestions {
  readonly #trace: CallTrace | undefined
  readonly #observer: QuestionObserver

  constructor (trace: CallTrace | undefined, observer: QuestionObserver) {
    this.#trace = trace
    this.#observer = observer
  }

  /** Counts a question and returns its params. Its span ends here, since the answer comes with another request. */
  add<P extends Params | undefined> (method: string, params: P): P | Params {
    this.#observer.notify({ method, outcome: 'deferred', ms: 0 })
    const span = this.#trace?.startQuestion(method, params)
    span?.end()
    return span?.params ?? params
  }
}
