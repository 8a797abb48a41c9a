import { numberFrom } from './number-text.js'
import { Typed, type Fields, type Value } from './value.js'

/** A mistake in a JSON text, in words, and its place: lines and columns count from 1. */
export interface JsonProblem { message: string, line: number, column: number, offset: number }

/** Deeper texts are refused: reading them takes a stack frame a level. */
const MAX_DEPTH = 500

/** Reads a JSON text. An empty one is no value and no problem. */
export function parseJson (text: string): { value: Value | undefined } | { problem: JsonProblem } {
  try {
    return { value: new Reader(text).read() }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    const before = text.slice(0, error.offset).split('\n')
    return {
      problem: {
        message: error.message,
        line: before.length,
        column: (before.at(-1) ?? '').length + 1,
        offset: error.offset
      }
    }
  }
}

class Wrong extends Error {
  constructor (readonly offset: number, message: string) { super(message) }
}

const WORDS = new Map<string, null | boolean>([['null', null], ['true', true], ['false', false]])

class Reader {
  readonly #text: string
  #at = 0

  constructor (text: string) { this.#text = text }

  read (): Value | undefined {
    if (this.#peek() === '') return undefined
    const value = this.#value(0)
    if (this.#peek() !== '') this.#fail('Nothing may follow the value')
    return value
  }

  #value (depth: number): Value {
    const next = this.#peek()
    if (depth > MAX_DEPTH) this.#fail(`The value is nested deeper than ${MAX_DEPTH} levels`)
    if (next === '{') return this.#object(depth)
    if (next === '[') return this.#array(depth)
    if (next === '"') return this.#string()
    return this.#word()
  }

  #object (depth: number): Fields {
    const fields: Fields = new Map()
    this.#each('}', () => {
      if (this.#peek() !== '"') this.#fail('Expected a name in double quotes')
      const begin = this.#at
      const name = this.#string()
      if (fields.has(name)) this.#fail(`${JSON.stringify(name)} is here twice`, begin)
      if (this.#peek() !== ':') this.#fail('Expected a colon after the name')
      this.#at++
      fields.set(name, this.#value(depth + 1))
    })
    return fields
  }

  #array (depth: number): Value[] {
    const items: Value[] = []
    this.#each(']', () => items.push(this.#value(depth + 1)))
    return items
  }

  /** Reads members between commas up to the closing bracket. */
  #each (close: string, member: () => void): void {
    const begin = this.#at++
    if (this.#peek() === close) { this.#at++; return }
    for (;;) {
      member()
      const next = this.#peek()
      if (next !== ',' && next !== close) {
        this.#fail(
          next === '' ? `This bracket is never closed: expected ${close}` : `Expected a comma or ${close}`,
          next === '' ? begin : this.#at
        )
      }
      this.#at++
      if (next === close) return
    }
  }

  #string (): string {
    const begin = this.#at
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 34) break
      if (Number.isNaN(code)) this.#fail('The quote that begins here is never closed', begin)
      if (code < 32) {
        this.#fail(
          code === 10
            ? 'The quote is not closed in this line; write \\n for a new line'
            : `Write control characters as \\u${code.toString(16).padStart(4, '0')}`
        )
      }
      if (code === 92) {
        if (!/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y.test(this.#text.slice(this.#at, this.#at + 6))) {
          this.#fail('Unknown escape; write \\\\ for a backslash')
        }
        this.#at++
      }
    }
    return JSON.parse(this.#text.slice(begin, ++this.#at))
  }

  #word (): Value {
    const word = /[^\s,:[\]{}"]*/y
    word.lastIndex = this.#at
    const [text = ''] = word.exec(this.#text) ?? []
    const known = WORDS.get(text)
    if (known === undefined && !/^[-+.\d]/.test(text)) {
      this.#fail(
        text === ''
          ? `Expected a value${this.#peek() === '' ? '' : `, found ${this.#peek()}`}`
          : `Unknown word ${JSON.stringify(text)}; texts are written in double quotes`
      )
    }
    const value = known === undefined ? numberFrom(text) : known
    if (value instanceof Typed && value.problem !== undefined) this.#fail(value.problem.replace(/\.$/, ''))
    this.#at += text.length
    return value
  }

  /** The next character that is no white space; empty at the end. */
  #peek (): string {
    while (' \n\r\t'.includes(this.#text[this.#at] ?? '.')) this.#at++
    return this.#text[this.#at] ?? ''
  }

  #fail (message: string, offset = this.#at): never { throw new Wrong(offset, message) }
}
