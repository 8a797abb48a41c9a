import { oneLine } from '../../../lib/one-line.js'
import { isObject } from '../../../protocol/wire/json.js'
import { typeOf } from './type-text.js'

/** Up to this many characters of a signature, arguments that are not required and types are written out. */
const MAX_ARGUMENTS = 600
/** Up to this many, names of required arguments are. */
const MAX_REQUIRED = 4_000
const MAX_NAME = 64
const MAX_DEFAULT = 24
const MAX_SENTENCE = 200
/** How much of a description is looked into for its first sentence. */
const MAX_LOOKED_INTO = 1_000
const MAX_SERVER_SENTENCE = 120

const PLAIN_NAME = /^[\p{L}\p{N}_$.@-]+$/u
/** The first half of a character that was cut. */
const HALF_CHARACTER = /[\ud800-\udbff]$/
/** A dot after these ends no sentence. */
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|max|min|no)$/i

/** The short text of a tool. */
export interface Signature {
  readonly text: string
  /** True when the schema says more about the arguments than the text, apart from their descriptions. */
  readonly isShortened: boolean
}

/**
 * Makes a signature such as `create_issue(repo*: str, labels: str[] = []) - Creates an issue.` with the name it gets.
 * `*` marks what is required, `~` a type that is shortened, `…+3` how many arguments are left out. Names of required
 * arguments are not, as long as they have 4,000 characters. However large a schema is, a bounded part is looked into.
 */
export function signatureOf (name: string, listed: Readonly<Record<string, unknown>>): Signature {
  const { text, isShortened } = argumentsOf(listed.inputSchema)
  const sentence = firstSentence(listed.description ?? listed.title, MAX_SENTENCE)
  return { text: `${name}(${text})${sentence === '' ? '' : ` - ${sentence}`}`, isShortened }
}

/** The first sentence of a text, in one line; cut after a word, with `…`, when it is longer than `max`. */
export function firstSentence (text: unknown, max: number): string {
  if (typeof text !== 'string') return ''
  const [paragraph = ''] = text.slice(0, MAX_LOOKED_INTO).trim().split(/\n\s*\n/, 1)
  const line = oneLine(paragraph.replace(/\s+/g, ' '), MAX_LOOKED_INTO)
  for (const { index } of line.matchAll(/[.!?](?= |$)|[。！？]/g)) {
    if (index >= max) break
    if (!ABBREVIATION.test(line.slice(Math.max(0, index - 8), index))) return line.slice(0, index + 1)
  }
  if (line.length <= max) return line
  const cut = line.slice(0, max)
  const space = cut.lastIndexOf(' ')
  return `${(space > max / 2 ? cut.slice(0, space) : cut).replace(HALF_CHARACTER, '')}…`
}

/** A server in its own words. */
export interface ServerWords {
  readonly name: string
  readonly instructions?: string | undefined
}

/**
 * Says which servers there are, sorted by name, each with the first sentence of its instructions:
 * `files, github (Works with repositories.) and 3 more`. Where that has more than `max` characters, the sentences of
 * the last ones are left out, then their names.
 */
export function describeServers (servers: Iterable<ServerWords>, max: number): string {
  const sorted = [...servers].sort((a, b) => a.name < b.name ? -1 : 1)
  const parts: string[] = []
  let left = max - sorted.reduce((sum, { name }) => sum + oneLine(name, MAX_NAME).length + 2, 0)
  for (const { name, instructions } of sorted) {
    const words = firstSentence(instructions, MAX_SERVER_SENTENCE)
    const isShown = words !== '' && words.toLowerCase() !== name.toLowerCase() && words.length + 3 <= left
    if (isShown) left -= words.length + 3
    parts.push(isShown ? `${oneLine(name, MAX_NAME)} (${words})` : oneLine(name, MAX_NAME))
  }
  return joinWithin(parts, max)
}

/** Joins as many parts as fit, and says how many do not. */
function joinWithin (parts: string[], max: number): string {
  const whole = parts.join(', ')
  if (whole.length <= max) return whole
  let text = ''
  for (const [index, part] of parts.entries()) {
    const more = ` and ${parts.length - index} more`
    if (text.length + part.length + more.length > max) return `${text.slice(0, -2)}${more}`.trimStart()
    text += `${part}, `
  }
  return text.slice(0, -2)
}

interface Argument { readonly name: string, readonly schema: unknown }

function argumentsOf (schema: unknown): Signature {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  const required = requiredOf(schema)
  const optional: Argument[] = []
  let optionalCount = 0
  for (const name in properties) {
    if (required.has(name)) continue
    optionalCount++
    // Each takes four characters at least.
    if (optional.length < MAX_ARGUMENTS / 4) optional.push({ name, schema: properties[name] })
  }
  const list = new ArgumentList(schema)
  for (const name of required) list.addRequired({ name, schema: properties[name] })
  for (const argument of optional) list.addOptional(argument)
  return list.end(required.size, optionalCount)
}

function requiredOf (schema: unknown): Set<string> {
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : []
  return new Set(required.filter((name): name is string => typeof name === 'string'))
}

/** The arguments of a signature, as far as there is room for them. */
class ArgumentList {
  readonly #root: unknown
  readonly #parts: string[] = []
  #length = 0
  #required = 0
  #isShortened = false

  constructor (root: unknown) {
    this.#root = root
  }

  addRequired ({ name, schema }: Argument): void {
    const shown = nameText(name)
    const { text, isShortened } = this.#length < MAX_ARGUMENTS ? typeOf(schema, this.#root) : TOO_LONG
    const [whole, short] = [`${shown}*: ${text}`, `${shown}*~`]
    const fits = this.#length + whole.length <= MAX_ARGUMENTS
    if (!fits && this.#length + short.length > MAX_REQUIRED) return
    this.#required++
    this.#isShortened ||= isShortened || !fits
    this.#push(fits ? whole : short)
  }

  addOptional ({ name, schema }: Argument): void {
    if (this.#length >= MAX_ARGUMENTS) return
    const { text, isShortened } = typeOf(schema, this.#root)
    const whole = `${nameText(name)}: ${text}${defaultText(schema)}`
    if (this.#length + whole.length > MAX_ARGUMENTS) return
    this.#isShortened ||= isShortened
    this.#push(whole)
  }

  end (required: number, optional: number): Signature {
    const left = required + optional - this.#parts.length
    const leftRequired = required - this.#required
    const rest = left === 0 ? [] : [`…+${left}${leftRequired === 0 ? '' : ` (${leftRequired} of them required)`}`]
    return { text: [...this.#parts, ...rest].join(', '), isShortened: this.#isShortened || left > 0 }
  }

  #push (part: string): void {
    this.#parts.push(part)
    this.#length += part.length + 2
  }
}

const TOO_LONG: Signature = { text: '~', isShortened: true }

/** A name with other characters than those of names, or a long one, is written as JSON. */
function nameText (name: string): string {
  if (name.length > MAX_NAME) return JSON.stringify(`${name.slice(0, MAX_NAME)}…`)
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name)
}

function defaultText (schema: unknown): string {
  if (!isObject(schema) || schema.default === undefined || schema.default === null) return ''
  const { default: value } = schema
  if (typeof value === 'string' && value.length > MAX_DEFAULT) return ' = …'
  if (isObject(value) || Array.isArray(value)) {
    return Object.keys(value).length > 0 ? ' = …' : ` = ${JSON.stringify(value)}`
  }
  return ` = ${JSON.stringify(value)}`
}
