import { basename } from 'node:path'
import { isObject } from '../../protocol/wire/json.js'

/** A server with a URL, in place of the program `mcp-remote` that connected to it. */
export interface Unwrapped {
  readonly values: Record<string, unknown>
  /** The arguments that concern the program alone. */
  readonly leftOut: string[]
}

/** Arguments that concern how the program itself signs in and logs, and whether they have a value. */
const OWN_FLAGS: Readonly<Record<string, boolean>> =
  { '--allow-http': false, '--debug': false, '--silent': false, '--host': true, '--auth-timeout': true }

const TRANSPORTS: Readonly<Record<string, string | undefined>> =
  { 'http-first': undefined, 'sse-first': undefined, 'http-only': 'http', 'sse-only': 'sse' }

/** Fields that only a program has. */
const OF_PROGRAMS = new Set(['command', 'args', 'env', 'cwd', 'type', 'transportType'])

/**
 * The server that the program `mcp-remote` of an entry connects to; why it is left to the program, where that has more
 * to do; undefined for other entries.
 */
export function unwrapBridge (values: unknown): Unwrapped | { readonly stays: string } | undefined {
  if (!isObject(values)) return undefined
  const { command, args, env = {}, envFile, env_file: envFile2 = envFile, env_vars: names = envFile2, ...rest } = values
  if (typeof command !== 'string' || !Array.isArray(args) || !isObject(env)) return undefined
  const words = argumentsOf([command, ...args.map(String)])
  if (words === undefined) return undefined
  if (names !== undefined) return { stays: 'it has variables from elsewhere' }
  const read = readArguments(words)
  if ('stays' in read) return read
  const { url, headers, type, leftOut } = read
  const used = new Set<string>()
  const expanded = Object.entries(headers).map(([name, text]) => [name, text.replace(/\$\{([^{}]+)\}/g, (whole, id: string) => {
    used.add(id)
    return Object.hasOwn(env, id) ? String(env[id]) : whole
  })])
  const unused = Object.keys(env).find(name => !used.has(name))
  if (unused !== undefined) return { stays: `Patchbay does not know what the variable ${unused} does there` }
  const others = Object.entries(rest).filter(([name]) => !OF_PROGRAMS.has(name))
  return {
    values: {
      ...Object.fromEntries(others),
      ...type !== undefined && { type },
      url,
      ...expanded.length > 0 && { headers: Object.fromEntries(expanded) as Record<string, unknown> }
    },
    leftOut
  }
}

const LAUNCHERS: Readonly<Record<string, RegExp>> = {
  npx: /^(-y|--yes|-q|--quiet)$/,
  bunx: /^--bun$/,
  pnpx: /^$/,
  pnpm: /^dlx$/,
  yarn: /^dlx$/,
  npm: /^(exec|x|-y|--yes|--)$/
}

/** The arguments of `mcp-remote`, however it is launched; undefined for another program. */
function argumentsOf (words: readonly string[]): readonly string[] | undefined {
  const [first = '', ...others] = words
  const program = basename(first.replaceAll('\\', '/')).replace(/\.(cmd|exe)$/i, '')
  if (program === 'mcp-remote') return others
  if (program === 'cmd') return /^\/[cC]$/.test(others[0] ?? '') ? argumentsOf(others.slice(1)) : undefined
  const own = LAUNCHERS[program]
  if (own === undefined) return undefined
  const at = others.findIndex(word => !own.test(word))
  return /^mcp-remote(@[^/]*)?$/.test(others[at] ?? '') ? others.slice(at + 1) : undefined
}

interface Read {
  readonly url: string
  readonly headers: Record<string, string>
  readonly type: string | undefined
  readonly leftOut: string[]
}

function readArguments ([url = '', ...words]: readonly string[]): Read | { stays: string } {
  if (!/^https?:\/\//i.test(url)) return { stays: 'its first argument is no URL' }
  const headers: Record<string, string> = {}
  const leftOut: string[] = []
  let type: string | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = words[at + 1] ?? ''
    if (at === 0 && /^\d{1,5}$/.test(word)) leftOut.push(`the port ${word}`)
    else if (Object.hasOwn(OWN_FLAGS, word)) {
      leftOut.push(word)
      if (OWN_FLAGS[word] === true) at++
    } else if (word === '--transport' && Object.hasOwn(TRANSPORTS, value)) {
      type = TRANSPORTS[value]
      at++
    } else if (word === '--header' && /^[\w-]+:/.test(value)) {
      const colon = value.indexOf(':')
      headers[value.slice(0, colon)] = value.slice(colon + 1).trim()
      at++
    } else {
      return { stays: `Patchbay does not know its argument ${word.startsWith('-') ? word.replace(/=.*$/s, '') : `${at + 2}`}` }
    }
  }
  return { url, headers, type, leftOut }
}
