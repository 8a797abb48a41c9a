/** Is thrown for a schema that has too many values to look into. */
export class TooLarge extends Error {}

/** A pattern that validators compile, one that they refuse, or one that is too long to find out. */
export type PatternReading = 'right' | 'wrong' | 'too long'

/** The longest pattern, in characters. */
const MAX_PATTERN = 1_000
/** How many characters take as long as what each pattern takes beside them. */
const PATTERN = 20
/** How many times as long a character takes in a pattern with others than those of ASCII: V8 sorts those of a class. */
const WIDE = 3
const ASCII = /^[ -~]*$/

/** How much of the schemas of one entry is looked into: it is done in one turn of the event loop. */
export class Budget {
  /** Members and elements. */
  #left = 5_000
  /** Characters of patterns. */
  #patterns = 20_000
  /** Unicode properties that were not met before: V8 makes a set of characters for each. */
  #properties = 20
  /** Members and elements of what unknown keywords have as values. */
  #unknown = 5_000

  /** Throws `TooLarge` when no more are left. */
  spend (count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new TooLarge()
  }

  /** Finds out if validators take a text for a regular expression. */
  readPattern (text: string): PatternReading {
    const cost = PATTERN + text.length * (ASCII.test(text) ? 1 : WIDE)
    if (text.length > MAX_PATTERN || cost > this.#patterns) return 'too long'
    this.#patterns -= cost
    const properties = new Set<string>()
    // Any other class stands for a property: V8 takes up to 0.3 ms for each.
    const plain = text.replace(ESCAPE, (escaped, property?: string) => {
      if (property === undefined) return escaped
      properties.add(property)
      return '\\d'
    })
    for (const property of properties) {
      if (PROPERTIES.has(property)) continue
      if (--this.#properties < 0) return 'too long'
      if (!isPattern(`\\p{${property}}`)) return 'wrong'
      PROPERTIES.add(property)
    }
    return isPattern(plain) ? 'right' : 'wrong'
  }

  /** True for the value of an unknown keyword without names of schemas and references: validators look for them. */
  isPlain (value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true
    for (const key in value) {
      const inner = (value as Record<string, unknown>)[key]
      if (--this.#unknown < 0 || isMisread(key, inner) || !isWellFormed(key) || !this.isPlain(inner)) return false
    }
    return true
  }
}

/** False for a text with half of a surrogate pair: validators make URIs of names, and it cannot be a part of one. */
export const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/.test(text) || !/\p{Surrogate}/u.test(text)

const ESCAPE = /\\(?:[pP]\{([^{}]*)\}|[^])/g

/** The Unicode properties that patterns had: there are some hundreds. */
const PROPERTIES = new Set<string>()

function isPattern (text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

const MISREAD: ReadonlySet<string> =
  new Set(['$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$ref', '$dynamicRef', '$recursiveRef'])

const isMisread = (key: string, value: unknown): boolean =>
  MISREAD.has(key) || (key === 'id' && typeof value !== 'object')
