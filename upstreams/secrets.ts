import { tryDecode } from '../lib/network/try-decode.js'
import type { ServerEntry } from './server-entry.js'

/** Hides the secrets of one server in a text. */
export type Redact = (text: string) => string

const HIDDEN = '***'
/** A shorter value is no secret worth the name, and may be part of any text. */
const SHORTEST = 6
/** The names of arguments whose values are secrets. */
const SECRET_NAME = /token|secret|password|passwd|pwd|credential|auth|api-?_?key|access-?_?key|private-?_?key|\bkey\b/i

/** Hides every value of an entry that may be a secret: of its environment, its headers, its URL, and of arguments with a telling name. */
export function redactor ({ address }: Pick<ServerEntry, 'address'>): Redact {
  const secrets = address.kind === 'stdio'
    ? [...Object.values(address.env), ...ofArguments(address.args)]
    : [...Object.values(address.headers).flatMap(ofHeader), ...ofUrl(address.url)]
  // The longest first, because one may be part of another.
  const hidden = [...new Set(secrets.flatMap(secret => [secret, encodeURIComponent(secret)]))].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length)
  return text => hidden.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
}

/** The logger without the secrets of one server. */
export function redactingLog<L extends 'debug' | 'info' | 'warn'> (log: Log<L>, levels: readonly L[], redact: Redact): Log<L> {
  return Object.fromEntries(levels.map(level => [level, (context: object, message: string) => log[level](redactAll(context, redact) as object, redact(message))])) as Log<L>
}

type Log<L extends string> = Record<L, (context: object, message: string) => void>

/** The same for the strings of a value that is logged. */
function redactAll (value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map(item => redactAll(item, redact))
  if (value instanceof Error || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redactAll(item, redact)]))
}

/** `Bearer abc` is a secret as a whole, and so is `abc`. */
const ofHeader = (value: string): string[] => [value, ...value.split(/[\s;,]+/)]

function ofArguments (args: readonly string[]): string[] {
  return args.flatMap((argument, index) => {
    const [, name = '', value] = /^--?([^=]+)=(.*)$/s.exec(argument) ?? []
    if (value !== undefined) return SECRET_NAME.test(name) ? [value] : ofUrl(value)
    const before = args[index - 1] ?? ''
    return /^--?[^=]+$/.test(before) && SECRET_NAME.test(before) && !argument.startsWith('-') ? [argument] : ofUrl(argument)
  })
}

function ofUrl (text: string): string[] {
  if (!URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  return [tryDecode(password) ?? password, password, ...(password === '' ? [username] : []), ...searchParams.values()]
}
