/** The characters of ASCII, and one place for all others. */
const OTHER = 128
type Characters = boolean[]

/** A character, a class or a group of a regular expression, and how often it may come. */
export interface Part {
  min: number
  max: number
  /** Which characters it may match; of a group, in any place. */
  characters: Characters
  /** The alternatives of a group. */
  inner?: Sequence[]
}
export type Sequence = Part[]

const where = (test: (code: number) => boolean): Characters =>
  Array.from({ length: OTHER + 1 }, (_, code) => test(code))
const matching = (pattern: RegExp, other: boolean): Characters =>
  where(code => (code === OTHER ? other : pattern.test(String.fromCharCode(code))))
const not = (characters: Characters): Characters => characters.map(has => !has)
const union = (all: Characters[]): Characters => where(code => all.some(characters => characters[code]))
const only = (character: string): Characters =>
  where(code => code === Math.min(character.codePointAt(0) ?? OTHER, OTHER))

const CLASSES: Record<string, Characters> = {
  d: matching(/\d/, false),
  w: matching(/\w/, false),
  s: matching(/\s/, true)
}
const CONTROLS: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' }
const DOT = matching(/[^\n\r]/, true)
const ANY = where(() => true)

/** The alternatives of a regular expression; undefined for what is none. */
export function readPattern (source: string): Sequence[] | undefined {
  try {
    RegExp(source, 'u')
    return new PatternReader(source).alternatives()
  } catch {
    return undefined
  }
}

/** Reads what is known to be a regular expression. */
class PatternReader {
  readonly #source: string
  #at = 0

  constructor (source: string) {
    this.#source = source
  }

  alternatives (): Sequence[] {
    const all: Sequence[] = [[]]
    while (this.#at < this.#source.length && !this.#takes(/\)/y)) {
      if (this.#takes(/\|/y)) all.push([])
      else if (!this.#takes(/\^|\$|\\[bB]/y)) all.at(-1)?.push(...this.#part())
    }
    return all
  }

  // A group that looks ahead or behind matches no characters.
  #part (): Part[] {
    const looks = this.#takes(/\(\?<?[=!]/y)
    const group = looks || this.#takes(/\((\?:|\?<[^>]*>)?/y)
    const inner = group ? this.alternatives() : undefined
    const characters = inner === undefined ? this.#characters() : union(inner.flat().map(part => part.characters))
    const [min, max] = this.#quantifier()
    return looks ? [] : [{ min, max, characters, ...(inner === undefined ? {} : { inner }) }]
  }

  #quantifier (): [min: number, max: number] {
    const [whole = '', from, comma, to] = this.#match(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y) ?? []
    if (whole === '') return [1, 1]
    if (from !== undefined) return [Number(from), comma === '' ? Number(from) : to === '' ? Infinity : Number(to)]
    return [whole.startsWith('+') ? 1 : 0, whole.startsWith('?') ? 1 : Infinity]
  }

  #characters (): Characters {
    if (this.#takes(/\./y)) return DOT
    if (!this.#takes(/\[/y)) return this.#one()
    const negated = this.#takes(/\^/y)
    const members: Characters[] = []
    while (!this.#takes(/\]/y)) members.push(this.#member())
    return negated ? not(union(members)) : union(members)
  }

  #member (): Characters {
    const first = this.#one()
    if (!/-[^\]]/y.test(this.#source.slice(this.#at, this.#at + 2)) || first.filter(Boolean).length !== 1) return first
    this.#at++
    const last = this.#one()
    return where(code => code >= first.indexOf(true) && code <= last.lastIndexOf(true))
  }

  /** A single character, or an escape that stands for one or for several. */
  #one (): Characters {
    const [, named] = this.#match(/\\([dwsDWS])/y) ?? []
    if (named !== undefined) {
      return /[dws]/.test(named) ? (CLASSES[named] as Characters) : not(CLASSES[named.toLowerCase()] as Characters)
    }
    const [, code] = this.#match(/\\(?:u\{?|x)([0-9a-fA-F]+)\}?/y) ?? []
    if (code !== undefined) return only(String.fromCodePoint(parseInt(code, 16)))
    // Properties and references may be anything.
    if (this.#takes(/\\(?:[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|c.)/y)) return ANY
    const [whole = ''] = this.#match(/\\?[^]/uy) ?? []
    return only(whole.length > 1 && whole.startsWith('\\') ? CONTROLS[whole.slice(1)] ?? whole.slice(1) : whole)
  }

  #takes (pattern: RegExp): boolean {
    return this.#match(pattern) !== null
  }

  #match (pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found !== null) this.#at = pattern.lastIndex
    return found
  }
}
