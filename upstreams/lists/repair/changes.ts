import { oneLine } from '../../../lib/one-line.js'

const MAX_SENTENCES = 20
const MAX_POINTER = 200

/** The changes of an entry, as short sentences that begin with a JSON pointer; a bounded number of them. */
export class Changes {
  readonly #sentences: string[] = []
  #more = 0
  #loosened = false

  /** True when something was changed that now allows more values than before. */
  get loosened (): boolean {
    return this.#loosened
  }

  get any (): boolean {
    return this.#sentences.length > 0
  }

  /** Notes a change after which the same values are allowed as before. */
  note (pointer: string, what: string): void {
    if (this.#sentences.length < MAX_SENTENCES) this.#sentences.push(`${oneLine(pointer, MAX_POINTER)}: ${what}`)
    else this.#more++
  }

  /** Notes a change after which more values are allowed. */
  loosen (pointer: string, what: string): void {
    this.#loosened = true
    this.note(pointer, what)
  }

  /** Adds those of a part. */
  take (part: Changes): void {
    for (const sentence of part.#sentences) {
      if (this.#sentences.length < MAX_SENTENCES) this.#sentences.push(sentence)
      else this.#more++
    }
    this.#more += part.#more
  }

  list (): string[] {
    return this.#more === 0 ? [...this.#sentences] : [...this.#sentences, `and ${this.#more} more`]
  }
}

/** The pointer to a member, for a sentence: a long one is not made longer. */
export function below (pointer: string, key: string | number): string {
  if (pointer.length > MAX_POINTER) return pointer
  return `${pointer}/${typeof key === 'string' && (key.length > MAX_POINTER || ESCAPED.test(key)) ? escape(key) : key}`
}

const ESCAPED = /[~/]/

const escape = (key: string): string => key.slice(0, MAX_POINTER).replaceAll('~', '~0').replaceAll('/', '~1')
