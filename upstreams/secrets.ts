import { tryDecode } from '../lib/network.js'
import { fixedTexts } from '../protocol/definitions/overrides/override.js'
import type { ServerEntry } from './server-entry.js'

/** Hides the secrets of one server in a text. */
export type Redact = (text: string) => string

const HIDDEN = '***'
/** A shorter value is no secret worth the name, and may be part of any text. */
const SHORTEST = 6
/** A shorter part of base64 may be part of any text. */
const SHORTEST_BASE64 = 8
/** How deep a value that is logged is looked into. */
const MAX_DEPTH = 8
/** The names of arguments whose values are secrets. */
export const SECRET_NAME = /token|secret|password|passwd|pwd|credential|auth|api-?_?key|access-?_?key|private-?_?key|\bkey\b/i

type MayHaveSecrets = Pick<ServerEntry, 'address' | 'override' | 'oauth' | 'secrets'>

/**
 * Hides every value of an entry that may be a secret: of its environment, its headers, its URL, of arguments with a
 * telling name, of overrides, and what came out of files and programs. `more` are other secrets that the server gets.
 */
export function redactor (
  { address, override = {}, oauth, secrets: known = [] }: MayHaveSecrets,
  more: readonly string[] = []
): Redact {
  const secrets = address.kind === 'stdio'
    ? [...Object.values(address.env), ...ofArguments(address.args)]
    : [...Object.values(address.headers).flatMap(ofHeader), ...ofUrl(address.url), oauth?.clientSecret ?? '', ...ofApi(address)]
  // The longest first, because one may be part of another.
  const hidden = [...new Set([...secrets, ...known, ...fixedTexts(override), ...more].flatMap(formsOf))]
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
  return text => hidden.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
}

/**
 * Hides the secrets of a server whose entry may be replaced, and so may other secrets that it gets; `tokens` are those
 * of its sign-in.
 */
export function redactorOf (
  server: () => MayHaveSecrets,
  others: () => readonly string[],
  tokens: () => readonly string[] = () => []
): Redact {
  let [entry, more, redact]: [object?, object?, Redact?] = []
  return text => {
    const [present, given] = [server(), others()]
    if (redact === undefined || entry !== present || more !== given) {
      [entry, more, redact] = [present, given, redactor(present, given)]
    }
    return tokens().reduce((left, token) => left.replaceAll(token, HIDDEN), redact(text))
  }
}

/** The logger without the secrets of one server. */
export function redactingLog<L extends 'debug' | 'info' | 'warn'> (
  log: Log<L>,
  levels: readonly L[],
  redact: Redact
): Log<L> {
  return Object.fromEntries(
    levels.map(level => [
      level,
      (context: object, message: string) => log[level](redactAll(context, redact) as object, redact(message))
    ])
  ) as Log<L>
}

type Log<L extends string> = Record<L, (context: object, message: string) => void>

/** Redacts the strings of a value that is logged, and those of errors and their causes. */
export function redactAll (value: unknown, redact: Redact, depth = MAX_DEPTH): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return HIDDEN
  if (Array.isArray(value)) return value.map(item => redactAll(item, redact, depth - 1))
  const members = Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, redactAll(item, redact, depth - 1)])
  )
  return value instanceof Error ? redactError(value, members, redact, depth) : members
}

/** Another error with the same members, so that a logger writes it like the first. */
function redactError (error: Error, members: object, redact: Redact, depth: number): Error {
  const { name, message, stack, cause } = error
  const copy = new Error(
    redact(message),
    cause === undefined ? undefined : { cause: redactAll(cause, redact, depth - 1) }
  )
  Object.defineProperty(copy, 'name', { value: name, enumerable: false })
  if (stack !== undefined) Object.defineProperty(copy, 'stack', { value: redact(stack), enumerable: false })
  return Object.assign(copy, members)
}

/** How a secret may be written: as it is, line by line, in a URL, in JSON, and in base64. */
function formsOf (secret: string): string[] {
  const texts = [secret, ...secret.split(/[\r\n]+/).map(line => line.trim())].filter(({ length }) => length >= SHORTEST)
  return [
    ...texts.flatMap(text => [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]),
    ...inBase64(secret.trim())
  ]
}

/**
 * The characters of base64 that do not depend on what is before and after the secret, for each of the three places
 * where it may begin.
 */
function inBase64 (secret: string): string[] {
  if (secret.length < SHORTEST) return []
  return [0, 1, 2].flatMap(before => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const own = bytes.toString('base64').slice(before === 0 ? 0 : before + 1, 4 * Math.floor(bytes.length / 3))
    const whole = before === 0 ? [bytes.toString('base64'), bytes.toString('base64url')] : []
    return own.length < SHORTEST_BASE64 ? whole : [...whole, own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

const ofApi = (address: Exclude<ServerEntry['address'], { kind: 'stdio' }>): string[] =>
  address.kind === 'openapi'
    ? [...ofUrl(address.document), ...ofPath(address.url), ...ofPath(address.document), address.credentials?.clientSecret ?? '']
    : []

/** Parts of the path of a URL that are as long and odd as tokens are: some APIs have theirs there. */
const ofPath = (text: string): string[] =>
  URL.canParse(text) ? new URL(text).pathname.split('/').filter(part => part.length >= 20 && /\d/.test(part)) : []

/** `Bearer abc` is a secret as a whole, and so is `abc`. */
const ofHeader = (value: string): string[] => [value, ...value.split(/[\s;,]+/)]

function ofArguments (args: readonly string[]): string[] {
  return args.flatMap((argument, index) => {
    const [, name = '', value] = /^--?([^=]+)=(.*)$/s.exec(argument) ?? []
    if (value !== undefined) return SECRET_NAME.test(name) ? [value] : ofUrl(value)
    const before = args[index - 1] ?? ''
    return /^--?[^=]+$/.test(before) && SECRET_NAME.test(before) && !argument.startsWith('-')
      ? [argument]
      : ofUrl(argument)
  })
}

function ofUrl (text: string): string[] {
  if (!URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  return [tryDecode(password) ?? password, password, ...(password === '' ? [username] : []), ...searchParams.values()]
}
