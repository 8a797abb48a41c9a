import { stemmer } from 'stemmer'
import { isObject } from '../../../protocol/wire/json.js'

/** A tool as the index gets it: its canonical name, such as `alias__tool`, and its definition as it is listed. */
export interface SearchedTool {
  readonly name: string
  /** Names it in the index, where the index has several of its name: the name itself when absent. */
  readonly key?: string
  readonly listed: Readonly<Record<string, unknown>>
}

/**
 * How much a term counts in each part of a definition. Whole numbers: sums of them are exact, so a ranking does not
 * depend on the order in which tools came and went.
 */
export const WEIGHTS = { name: 12, server: 4, title: 4, description: 4, argument: 2, argumentDescription: 1 }

export type Weights = typeof WEIGHTS

/** Divides a text into terms. */
export type TermsOf = (text: string) => string[]

/** The most characters of one text that are looked into. */
const MAX_TEXT = 4_000
const MAX_ARGUMENT_TEXT = 300
const MAX_ARGUMENTS = 100
/** The longest run of letters that is divided into words, and the longest of these: a longer one is data. */
const MAX_WORD = 200
const MAX_TERM = 40
/** How many words are remembered with their terms: more than several thousand tools have. */
const MAX_WORDS = 20_000

const ASCII = /^[ -~\s]*$/
const ASCII_WORDS = /[A-Za-z0-9]+/g
const WORDS = /[\p{L}\p{N}\p{M}]+/gu
const LOWER_UPPER = /([\p{Ll}\p{N}])(\p{Lu})/gu
const UPPER_WORD = /(\p{Lu})(\p{Lu}\p{Ll})/gu
/** Letters of languages that are written without spaces. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu

/**
 * Divides a text into terms: the words of sentences, `snake_case`, `kebab-case` and `camelCase`, in small letters and
 * reduced to their stems, and pairs of letters of languages that are written without spaces.
 */
export const termsOf = divider(stemmer)

/** Makes a `termsOf` that reduces words as `stem` does. */
export function divider (stem: (word: string) => string): TermsOf {
  const known = new Map<string, string[]>()
  const divide = (found: string): string[] => {
    if (known.size >= MAX_WORDS) known.clear()
    // A copy: V8 keeps a text in memory as long as a word that was cut out of it.
    const word = Buffer.from(found).toString()
    const parts = word.replace(LOWER_UPPER, '$1 $2').replace(UPPER_WORD, '$1 $2').toLowerCase().split(' ')
    const terms = parts.filter(part => part.length <= MAX_TERM).map(stem)
    known.set(word, terms)
    return terms
  }
  return text => {
    const isAscii = ASCII.test(text)
    const terms: string[] = []
    const spaced = isAscii
      ? text
      : text.normalize('NFKC').replace(UNSPACED, run => {
        terms.push(...pairsOf(run))
        return ' '
      })
    for (const word of spaced.match(isAscii ? ASCII_WORDS : WORDS) ?? []) {
      if (word.length <= MAX_WORD) for (const term of known.get(word) ?? divide(word)) terms.push(term)
    }
    return terms
  }
}

/** How much each term counts in a tool. However large a definition is, only a bounded part of it is looked into. */
export function weighTerms ({ name, listed }: SearchedTool, weights: Weights, divide: TermsOf): Map<string, number> {
  const weighed = new Map<string, number>()
  const add = (text: unknown, weight: number, max = MAX_TEXT): void => {
    if (typeof text !== 'string' || text === '') return
    for (const term of divide(text.slice(0, max))) weighed.set(term, (weighed.get(term) ?? 0) + weight)
  }
  const [server, bare] = splitName(name)
  add(bare, weights.name)
  add(server, weights.server)
  // A view may list it under another name.
  if (listed.name !== name && listed.name !== bare) add(listed.name, weights.name)
  add(listed.title ?? (isObject(listed.annotations) ? listed.annotations.title : undefined), weights.title)
  add(listed.description, weights.description)
  const properties = isObject(listed.inputSchema) ? listed.inputSchema.properties : undefined
  if (!isObject(properties)) return weighed
  let left = MAX_ARGUMENTS
  for (const argument in properties) {
    if (left-- === 0) break
    const schema = properties[argument]
    add(argument, weights.argument, MAX_ARGUMENT_TEXT)
    if (isObject(schema)) add(schema.description, weights.argumentDescription, MAX_ARGUMENT_TEXT)
  }
  return weighed
}

/** Server and own name of a tool; the server is undefined for a tool of this gateway. */
export function splitName (name: string): [server: string | undefined, bare: string] {
  const at = name.indexOf('__')
  return at <= 0 ? [undefined, name] : [name.slice(0, at), name.slice(at + 2)]
}

function pairsOf (run: string): string[] {
  const letters = [...run]
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at] ?? ''}${letter}`)
}
