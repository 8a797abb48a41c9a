import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { isLoopback } from '../../lib/network.js'
import { flatten, resolveOptions, type FlatOptions } from '../../options.js'
import { versions } from '../../protocol/revisions/table.js'
import { LEVELS, isLogLevel, type LogLevel } from '../../protocol/wire/log-level.js'
import type { Environment } from '../../system/environment.js'
import { withoutTilde } from '../../system/process/data-folder.js'
import type { Address } from '../../upstreams/server-entry.js'
import { KEY } from '../settings/environment.js'
import { parseOrHint } from '../settings/parse-arguments.js'
import { readSettings } from '../settings/read-settings.js'

/** The flags that every command has which asks a server. */
const COMMON = {
  url: { type: 'string' },
  key: { type: 'string' },
  header: { type: 'string', multiple: true },
  view: { type: 'string' },
  config: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  format: { type: 'string' },
  timeout: { type: 'string' },
  revision: { type: 'string' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
} as const

type Flags = NonNullable<ParseArgsConfig['options']>

/** The words of a command line that asks a server. */
export interface Invocation {
  readonly address: Address
  /** The server in words, without secrets. */
  readonly target: string
  /** True for the gateway of this machine, which the command line does not name. */
  readonly isOwnGateway: boolean
  readonly words: readonly string[]
  /** The flags of this command alone. */
  readonly values: Readonly<Record<string, string | boolean | string[] | undefined>>
  readonly limits: FlatOptions
  readonly format: 'json' | 'text' | undefined
  /** How long the answer may take, in milliseconds; as long as it wants when absent. */
  readonly timeout: number | undefined
  readonly revision: string | undefined
  readonly logLevel: LogLevel | undefined
  readonly help: boolean
}

/** The names of the common flags, for completion. */
export const FLAG_NAMES = Object.keys(COMMON)

/** Reads the command line of a command with these flags besides the common ones. Throws a sentence. */
export function readInvocation (argv: string[], flags: Flags, env: Environment, cwd: string): Invocation {
  const end = argv.indexOf('--')
  const command = end < 0 ? undefined : argv.slice(end + 1)
  const { values: all, positionals } = parseOrHint({
    args: end < 0 ? argv : argv.slice(0, end),
    options: { ...COMMON, ...flags },
    allowPositionals: true
  })
  const values = all as Invocation['values']
  const text = (name: keyof typeof COMMON): string | undefined => values[name] as string | undefined
  const options = (['config', 'host', 'port'] as const).flatMap(name => {
    const value = text(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  // The config file of the user says where the gateway of this machine is; a server that is named needs none.
  const isNamed = command !== undefined || text('url') !== undefined
  const limits = flatten(resolveOptions(readSettings(options, env, cwd, isNamed ? 'ignored' : 'if there').options))
  return {
    ...targetOf({ command, url: text('url'), view: text('view'), limits }, {
      key: keyOf(text('key'), cwd),
      headers: (values['header'] as string[] | undefined ?? []).flatMap(header => readHeader(header, cwd)),
      env
    }),
    words: positionals,
    values,
    limits,
    format: oneOf('--format', text('format'), ['json', 'text'] as const),
    timeout: seconds(text('timeout')),
    revision: oneOf('--revision', text('revision'), versions),
    logLevel: levelOf(text('log-level')),
    help: values['help'] === true
  }
}

/** True where `--help` is about a tool or prompt that the words name, and not about the command. */
export function asksAboutWord (argv: string[], flags: Flags): boolean {
  const end = argv.indexOf('--')
  const { values, positionals } = parseArgs({
    args: end < 0 ? argv : argv.slice(0, end),
    options: { ...COMMON, ...flags },
    allowPositionals: true,
    strict: false
  })
  return values['help'] === true && positionals.length > 0
}

type Target = Pick<Invocation, 'address' | 'target' | 'isOwnGateway'>

interface Named {
  readonly command: string[] | undefined
  readonly url: string | undefined
  readonly view: string | undefined
  readonly limits: FlatOptions
}

interface Credentials {
  readonly key: string | undefined
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly env: Environment
}

function targetOf ({ command, url, view, limits }: Named, { key, headers, env }: Credentials): Target {
  if (command !== undefined && url !== undefined) {
    throw new Error('--url names one server, and what follows -- another; leave one of them out')
  }
  if (view !== undefined && (command !== undefined || url !== undefined)) {
    throw new Error('--view is a view of the gateway of this machine; of another one, it is part of the URL: …/mcp/NAME')
  }
  if (command !== undefined) {
    if (key !== undefined || headers.length > 0) throw new Error('a program has no headers: --key and --header are for URLs')
    return programOf(command, env)
  }
  const { url: href, kind } = readUrl(url ?? `${gatewayUrl(limits)}${view === undefined ? '' : `/${view}`}`)
  // The key of the user's own gateway is not for servers of others.
  const credential = key ?? (isLoopback(new URL(href).hostname.replace(/^\[|\]$/g, '')) ? env[KEY] || undefined : undefined)
  const authorization = credential === undefined ? {} : { Authorization: `Bearer ${credential.trim()}` }
  return {
    address: { kind, url: href, headers: { ...authorization, ...Object.fromEntries(headers) } },
    target: withoutSecrets(href),
    isOwnGateway: url === undefined
  }
}

function programOf ([command, ...args]: string[], env: Environment): Target {
  if (command === undefined || command === '') {
    throw new Error('-- is followed by the command of a server: -- npx -y @modelcontextprotocol/server-everything')
  }
  const { [KEY]: _key, ...inherited } = env
  const variables = Object.fromEntries(
    Object.entries(inherited).filter((entry): entry is [string, string] => entry[1] !== undefined)
  )
  return {
    address: { kind: 'stdio', command, args, env: variables, cwd: undefined },
    target: command,
    isOwnGateway: false
  }
}

function readUrl (text: string): { url: string, kind: 'any' | 'websocket' } {
  if (!URL.canParse(text)) throw new Error(`--url must be a URL such as https://example.com/mcp, not "${text}"`)
  const url = new URL(text)
  if (!/^(https?|wss?):$/.test(url.protocol)) {
    throw new Error(`--url must begin with http:, https:, ws: or wss:, not ${url.protocol}`)
  }
  url.hash = ''
  return { url: url.href, kind: url.protocol.startsWith('ws') ? 'websocket' : 'any' }
}

/** The URL at which the gateway with these options is reached on this machine. */
function gatewayUrl ({ host, port, prefix, tls }: FlatOptions): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' || host === '[::]' ? '::1' : host
  const authority = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return `${tls === undefined ? 'http' : 'https'}://${authority}:${port}${prefix}/mcp`
}

function withoutSecrets (href: string): string {
  const { protocol, host, pathname } = new URL(href)
  return `${protocol}//${host}${pathname}`
}

function keyOf (file: string | undefined, cwd: string): string | undefined {
  if (file === undefined) return undefined
  const key = readText('--key', file, cwd).trim()
  if (key === '' || /\s/.test(key)) throw new Error(`--key ${file}: the file has to have one key and nothing else`)
  return key
}

/** A header as `Name: value`, or all of a file as `@FILE`, one on each line. */
function readHeader (text: string, cwd: string): Array<readonly [string, string]> {
  if (text.startsWith('@')) {
    const lines = readText('--header', text.slice(1), cwd).split(/\r?\n/)
    return lines.filter(line => line.trim() !== '').map(line => headerOf(line, `a line of ${text.slice(1)}`))
  }
  return [headerOf(text, '--header')]
}

/** The value is not repeated in the error: it may be a secret. */
function headerOf (line: string, where: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`${where} must be a header such as "Name: value"`)
  return [name, value]
}

/** Reads a text file that an argument names. Throws a sentence that names both. */
export function readText (flag: string, file: string, cwd: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(resolve(cwd, withoutTilde(file)))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${flag}: ${file} ${code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`}`, {
      cause: error
    })
  }
  return textOf(bytes, `${flag}: ${file}`)
}

/** The text of bytes. Throws a sentence that begins with `what` if they are none. */
export function textOf (bytes: Buffer, what: string): string {
  if (isUtf8(bytes)) return bytes.toString()
  throw new Error(`${what} is no text in UTF-8; a tool that takes bytes wants them as text, for example in base64`)
}

function oneOf<const T extends string> (flag: string, value: string | undefined, words: readonly T[]): T | undefined {
  if (value === undefined || (words as readonly string[]).includes(value)) return value as T | undefined
  throw new Error(`${flag} must be one of ${words.join(', ')}, not "${value}"`)
}

function seconds (text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !(number > 0 && number <= 2_000_000)) {
    throw new Error(`--timeout must be a number of seconds, not "${text}"`)
  }
  return number * 1_000
}

function levelOf (text = 'info'): LogLevel | undefined {
  if (text === 'silent') return undefined
  if (!isLogLevel(text)) throw new Error(`--log-level must be one of ${LEVELS.join(', ')} or silent, not "${text}"`)
  return text
}
