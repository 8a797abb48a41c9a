import { oneLine } from '../../../lib/one-line.js'

const MAX_WARNINGS = 20
const MAX_QUOTED = 256

/** Sentences about what was left out of the lists of an upstream; a bounded number of them. */
export class Warnings {
  readonly #sentences: string[] = []
  #more = 0

  /** A function makes the sentence when there is a place for it. */
  add (sentence: string | (() => string)): void {
    if (this.#sentences.length < MAX_WARNINGS) {
      this.#sentences.push(typeof sentence === 'string' ? sentence : sentence())
    } else this.#more++
  }

  list (): string[] {
    return this.#more === 0 ? [...this.#sentences] : [...this.#sentences, `and ${this.#more} more`]
  }
}

/** A name that an upstream gave, as a message can repeat it. */
export const quote = (name: unknown): string =>
  typeof name === 'string' ? `"${oneLine(name, MAX_QUOTED)}"` : 'without a name'
