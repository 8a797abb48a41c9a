import { didYouMean } from '../../lib/nearest-name.js'
import { visible } from '../../lib/one-line.js'
import { isReservedPath } from '../../protocol/http/reserved-paths.js'
import { isObject } from '../../protocol/wire/json.js'
import { aliasOf } from '../../upstreams/config/alias.js'
import { Findings } from '../../upstreams/config/findings.js'
import { kindOf, splitUrl } from '../../upstreams/config/server-address.js'
import { readChecked } from '../../upstreams/config/to-entry.js'
import { openConfig, withServers, writeConfig } from './config-document.js'
import { needsFolder, type Entry } from './convert-server.js'
import { isSecret, SecretHider } from './hide-secrets.js'
import type { Environment } from '../../system/environment.js'

/** The config file to change, and the process that does it. */
export interface Place {
  readonly config: string | undefined
  readonly env: Environment
  readonly cwd: string
  readonly print: (text: string) => void
}

/** The command line of `patchbay add`, read. */
export interface NewServer {
  readonly name: string
  /** The URL, or the program with its arguments. */
  readonly words: string[]
  readonly env: string[]
  readonly headers: string[]
  readonly transport: string | undefined
}

/** Adds a server to the config file. Throws a sentence if it cannot be one, or if its name is taken. */
export function addServer (server: NewServer, { config, env, cwd, print }: Place): void {
  const document = openConfig(config, env, cwd)
  const { name } = server
  const alias = aliasOf(name)
  const other = Object.keys(document.servers).find(key => aliasOf(key) === alias)
  if (other !== undefined) {
    throw new Error(`there is a server "${other}" in ${document.file} already; remove it first: patchbay remove ${other}`)
  }
  if (isReservedPath(alias)) {
    throw new Error(`a server cannot be called "${name}", because /mcp/${alias} is a URL of the gateway itself`)
  }
  const entry = toEntry(server, cwd)
  const backup = writeConfig(document, withServers(document, { [name]: entry }))
  print(`Added ${visible(name)} to ${document.file}${backup === undefined ? '' : ` (as it was: ${backup})`}\n`)
  for (const sentence of warningsOf(entry)) print(`${sentence}\n`)
  print('A gateway that runs with this file takes it over by itself.\n')
}

function toEntry ({ name, words, env, headers, transport }: NewServer, cwd: string): Entry {
  const [first = '', ...args] = words
  const isRemote = /^(https?|wss?):/i.test(first)
  if (isRemote && args.length > 0) throw new Error('after a URL there is nothing to add; options come before it')
  if (isRemote && env.length > 0) throw new Error('--env is for a server that is started; a URL has --header')
  if (!isRemote && headers.length > 0) throw new Error('--header is for a URL; a server that is started has --env')
  const entry: Entry = isRemote
    ? {
        ...transport !== undefined && { type: transport },
        url: first,
        ...pairs(headers, ':', '--header "NAME: VALUE"', 'headers')
      }
    : {
        ...transport !== undefined && transport !== 'stdio' && { type: transport },
        command: first,
        ...args.length > 0 && { args },
        ...pairs(env, '=', '--env NAME=VALUE', 'env'),
        ...needsFolder(words, cwd) && { cwd }
      }
  check(name, entry)
  return entry
}

/** The members of `env` or `headers`, of texts such as `NAME=VALUE`. */
function pairs (texts: string[], mark: string, usage: string, field: string): Entry {
  if (texts.length === 0) return {}
  const entries = texts.map(text => {
    const at = text.indexOf(mark)
    // The value may be a secret, so the text is not repeated.
    if (at < 1) throw new Error(`${usage.split(' ')[0] ?? ''} is written ${usage}`)
    const value = text.slice(at + 1)
    return [text.slice(0, at).trim(), field === 'headers' ? value.trim() : value] as const
  })
  return { [field]: Object.fromEntries(entries) }
}

function check (name: string, entry: Entry): void {
  const findings = new Findings()
  const found = {
    name,
    values: entry,
    source: 'option mcpServers',
    path: ['mcpServers', name],
    folder: undefined,
    inputs: new Map<string, string>(),
    lenient: false,
    lineOf: () => undefined
  }
  const fields = readChecked(found, findings)
  const [mistake] = findings.leftOut.flatMap(({ mistakes }) => mistakes)
  if (fields === undefined) throw new Error(mistake?.text ?? 'this is no server')
  const { command, url, type } = entry as Record<'command' | 'url' | 'type', string | undefined>
  const kind = kindOf({ command, url, type, lenient: false })
  if ('mistake' in kind) throw new Error(`${kind.field === 'type' ? '--transport' : 'the server'} ${kind.mistake}`)
  if (url === undefined || kind.kind === 'stdio' || kind.kind === 'openapi' || url.includes('${')) return
  const split = splitUrl(url, kind.kind)
  if (typeof split === 'string') throw new Error(`the URL ${split}`)
}

/** Sentences about secrets that are in the file now, by name. */
function warningsOf ({ env, headers }: Entry): string[] {
  return [env, headers].flatMap(values =>
    isObject(values)
      ? Object.entries(values).filter(([name, value]) => isSecret(name, String(value))).map(([name]) =>
        `The value of ${visible(name)} is in the file as it is. To keep it elsewhere, write \${VARIABLE} or \${file:PATH} for it.`)
      : []
  )
}

/** Removes a server from the config file. Throws a sentence if there is none of that name. */
export function removeServer (name: string, { config, env, cwd, print }: Place): void {
  const document = openConfig(config, env, cwd)
  const names = Object.keys(document.servers)
  if (!names.includes(name)) {
    const hint = didYouMean(name, names) || (names.length === 0 ? '' : `; these are: ${names.join(', ')}`)
    throw new Error(`there is no server "${name}" in ${document.file}${hint}`)
  }
  const backup = writeConfig(document, withServers(document, {}, [name]))
  print(`Removed ${visible(name)} from ${document.file}${backup === undefined ? '' : ` (as it was: ${backup})`}\n`)
  print('A gateway that runs with this file takes the change over by itself.\n')
}

/** Prints the servers of the config file, without what may be secret in them. */
export function listServers (json: boolean, { config, env, cwd, print }: Place): void {
  const { file, servers, mcpConfig } = openConfig(config, env, cwd)
  const rows = Object.entries(servers).map(([name, entry]) => ({ name, ...describe(name, entry) }))
  if (json) {
    print(`${JSON.stringify({ file, servers: rows, mcpConfig }, null, 2)}\n`)
    return
  }
  const width = Math.max(0, ...rows.map(({ name }) => visible(name).length))
  const lines = rows.map(({ name, address, disabled }) =>
    `  ${visible(name).padEnd(width)}  ${visible(address)}${disabled ? ' (disabled)' : ''}\n`)
  const none = `No servers in ${file}. To add one: patchbay add NAME -- COMMAND\n`
  print(lines.length === 0 ? none : `${file}\n${lines.join('')}`)
  if (mcpConfig.length > 0) print(`and the servers of ${mcpConfig.join(', ')} (option mcpConfig)\n`)
}

/**
 * How a server is reached: its program with the first argument that is no flag, mostly a package or a script, or its
 * URL without user, password and query.
 */
function describe (name: string, entry: unknown): { address: string, disabled: boolean } {
  const { command, args, url, disabled } = isObject(entry) ? new SecretHider(() => '***').hide(name, entry) : {}
  const place = typeof url === 'string' ? url.replace(/[?#].*$/, '').replace(/\/\/[^/@]*@/, '//') : ''
  const word = Array.isArray(args) ? args.map(String).find(arg => !arg.startsWith('-')) : undefined
  const program = typeof command === 'string' ? [command, ...(word === undefined ? [] : [word])].join(' ') : undefined
  return { address: program ?? place, disabled: disabled === true }
}
