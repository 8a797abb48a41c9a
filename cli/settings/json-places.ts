import { placeFinder, type Place } from '../../lib/place-in-text.js'

/** Text that is not JSON: where, and what to do. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly place: Place

  constructor (place: Place, message: string) {
    super(message)
    this.place = place
  }
}

/** Where each member of a JSON text is, by its path, such as `apiKeys.0.hash`. Throws a JsonError at the first mistake. */
export const placesOf = (text: string): Map<string, Place> => readAll(text).places

/** A name that an object has twice: of these, JSON.parse silently takes the last. */
export interface Repeated { name: string, place: Place, first: Place }

/** The names that an object of a JSON text has twice. Throws a JsonError at the first mistake. */
export const repeatedNames = (text: string): Repeated[] => readAll(text).repeated

function readAll (text: string): Reader {
  const reader = new Reader(text)
  reader.readAll()
  return reader
}

/** One mark, string, number or word, after white space. */
const TOKEN = /[ \t\r\n]*([{}[\],:]|"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/uy

class Reader {
  readonly places = new Map<string, Place>()
  readonly repeated: Repeated[] = []
  readonly #text: string
  readonly #place: (offset: number) => Place
  #offset = 0

  constructor (text: string) {
    this.#text = text
    this.#place = placeFinder(text)
  }

  readAll (): void {
    this.#readValue('')
    if (/[^ \t\r\n]/.test(this.#text.slice(this.#offset))) this.#fail('the JSON value ends before this')
  }

  #readValue (path: string): void {
    if (this.#skip('{')) this.#readMembers(path)
    else if (this.#skip('[')) this.#readElements(path)
    else if (/^[\]},:]/.test(this.#next() ?? this.#fail())) this.#fail('a value is missing before this')
    else this.#take()
  }

  #readMembers (path: string): void {
    if (this.#skip('}')) return
    const names = new Map<string, Place>()
    do {
      if (this.#next() === '}') this.#fail('there is a comma too many before this')
      if (this.#next()?.startsWith('"') !== true) this.#fail('a name in double quotes is expected')
      const name = JSON.parse(this.#take()) as string
      const [member, place, first] = [join(path, name), this.#place(this.#offset - 1), names.get(name)]
      if (first === undefined) names.set(name, place)
      else this.repeated.push({ name, place, first })
      this.places.set(member, place)
      if (!this.#skip(':')) this.#fail('a colon is missing before this')
      this.#readValue(member)
    } while (this.#skip(','))
    if (!this.#skip('}')) this.#fail('a comma or } is missing before this')
  }

  #readElements (path: string): void {
    if (this.#skip(']')) return
    let index = 0
    do {
      if (this.#next() === ']') this.#fail('there is a comma too many before this')
      this.#readValue(join(path, String(index++)))
    } while (this.#skip(','))
    if (!this.#skip(']')) this.#fail('a comma or ] is missing before this')
  }

  #skip (mark: string): boolean {
    const found = this.#next() === mark
    if (found) this.#take()
    return found
  }

  #take (): string {
    const token = this.#next() ?? this.#fail()
    this.#offset = TOKEN.lastIndex
    return token
  }

  /** The token that comes next, without taking it; undefined if there is none. */
  #next (): string | undefined {
    TOKEN.lastIndex = this.#offset
    return TOKEN.exec(this.#text)?.[1]
  }

  #fail (message = 'this is not JSON'): never {
    const offset = this.#offset + (/^[ \t\r\n]*/.exec(this.#text.slice(this.#offset))?.[0].length ?? 0)
    const rest = this.#text.slice(offset)
    if (rest === '') throw new JsonError(this.#place(offset), 'the JSON ends too early')
    if (/^(\/[/*]|#)/.test(rest)) throw new JsonError(this.#place(offset), 'JSON has no comments')
    if (/^['‘’“”]/.test(rest)) throw new JsonError(this.#place(offset), 'JSON has no other quotes than "')
    const [, text] = /^("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)\\/u.exec(rest) ?? []
    if (text !== undefined) throw new JsonError(this.#place(offset + text.length), 'a \\ in a string is written \\\\, as in "C:\\\\Users"')
    throw new JsonError(this.#place(offset), `${message}: ${/^(\w{1,40}|[^])/u.exec(rest)?.[0] ?? ''}`)
  }
}

const join = (path: string, key: string): string => path === '' ? key : `${path}.${key}`
