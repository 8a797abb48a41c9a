import { existsSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import { isLoopback } from '../../lib/network.js'
import type { Server } from '../../options/upstreams.js'
import { isObject } from '../../protocol/wire/json.js'
import { mapTexts } from '../../system/variables.js'
import { Findings } from '../../upstreams/config/findings.js'
import type { FoundServer } from '../../upstreams/config/found-server.js'
import { kindOf } from '../../upstreams/config/server-address.js'
import { readChecked } from '../../upstreams/config/to-entry.js'
import { unwrapBridge } from './unwrap-bridge.js'

/** A server as the config file of Patchbay has it. */
export type Entry = Record<string, unknown>

/** A server in the form of Patchbay; or why it is skipped. */
export type Conversion = Converted | { readonly skipped: string }

export interface Converted {
  readonly entry: Entry
  /** The entry without a working directory that it has only from the place of its file. */
  readonly essence: Entry
  /** The fields that have no meaning here. */
  readonly leftOut: string[]
  /** Says what became of the program `mcp-remote`; undefined for other servers. */
  readonly bridge: string | undefined
  /** The entry with the program `mcp-remote`, where a URL takes its place. */
  readonly bridged: Entry | undefined
}

export interface ConvertOptions {
  /** Spells a variable of the client, where it has its own way. */
  readonly variable: RegExp | undefined
  /** True for a file of a project, whose servers run in its folder. */
  readonly isProject: boolean
  /** The port on which Patchbay itself is served. */
  readonly port: number
  readonly home: string | undefined
}

/** Why an entry for Patchbay is skipped. */
export const ITSELF = 'it is Patchbay itself'

/** A `timeout` below this is a number of seconds. */
const SECONDS = 1_000

/** The fields that are taken over as they are, in the order in which they are written. */
const KEPT = ['startTimeout', 'includeTools', 'excludeTools', 'roots'] as const

/**
 * Takes a server of a client over: other names of fields and variables become those of Patchbay, paths absolute, and
 * the program `mcp-remote` the URL that it connects to.
 */
export function convertServer (server: FoundServer, options: ConvertOptions): Conversion {
  const own = unwrapBridge(server.values)
  if (own === undefined) return convert(server, options)
  const asProgram = convert(server, options)
  if ('stays' in own) {
    return 'skipped' in asProgram ? asProgram : { ...asProgram, bridge: `stays the program mcp-remote, because ${own.stays}` }
  }
  const converted = convert({ ...server, values: own.values }, options, server.values)
  if ('skipped' in converted) return converted
  const leftOut = [...own.leftOut, ...converted.leftOut]
  return { ...converted, leftOut, bridge: UNWRAPPED, bridged: 'skipped' in asProgram ? undefined : asProgram.entry }
}

const UNWRAPPED = 'its URL in place of mcp-remote, so that Patchbay signs in itself'

/** Takes a server over as it is; `original` is as the file has it. */
function convert (server: FoundServer, options: ConvertOptions, original = server.values): Conversion {
  const findings = new Findings()
  const fields = readChecked(server, findings)
  if (fields === undefined) {
    const [mistake] = findings.leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => text))
    return { skipped: reasonIn(mistake ?? findings.warnings[0] ?? '', server.name) }
  }
  if (server.foreign !== undefined && JSON.stringify(server.values).includes('${command:')) {
    return { skipped: `it runs a program for a value, and ${server.foreign}` }
  }
  const given = fields.values as Server & { envVars?: unknown[] }
  if (given.disabled === true) return { skipped: 'it is disabled there' }
  const kind = kindOf({ command: given.command, url: given.url, type: given.type, lenient: server.lenient })
  if ('mistake' in kind) return { skipped: `it ${kind.mistake}` }
  const text = (value: unknown): unknown => mapTexts(value, part => toOwnVariables(part, server, options.variable))
  const remote = kind.kind !== 'stdio'
  const args = given.args?.map(String) ?? []
  const entry: Entry = compact(remote
    ? {
        type: kind.kind === 'any' ? undefined : kind.kind,
        url: text(given.url),
        headers: nonEmpty(text(given.headers)),
        oauth: nonEmpty(text(given.oauth))
      }
    : {
        command: text(given.command),
        args: args.length === 0 ? undefined : text(args),
        env: nonEmpty(text(given.env)),
        env_vars: given.envVars,
        envFile: given.envFile === undefined ? undefined : place(text(given.envFile) as string, server, options.home),
        cwd: folderOf(server, given.cwd === undefined ? undefined : text(given.cwd) as string, args, options)
      })
  if (isPatchbay(entry, options.port)) return { skipped: ITSELF }
  const unsafe = describeUnsafe(entry, { ...server, values: original })
  if (unsafe !== undefined) return { skipped: unsafe }
  const isInSeconds = given.timeout !== undefined && given.timeout < SECONDS
  const timeout = isInSeconds && fields.names.get('timeout') !== 'tool_timeout_sec'
    ? Math.round(Number(given.timeout) * SECONDS)
    : given.timeout
  Object.assign(entry, compact({ timeout, ...Object.fromEntries(KEPT.map(name => [name, text(given[name])])) }))
  const words = [String(given.command), ...args]
  const isFree = given.cwd === undefined && !needsFolder(words, server.folder ?? '')
  const { cwd: _, ...withoutFolder } = entry
  const essence = isFree ? withoutFolder : entry
  return { entry, essence, leftOut: [...fields.unused], bridge: undefined, bridged: undefined }
}

/** Says why a server would get a variable that its own text does not have, or would run a program; else undefined. */
function describeUnsafe (entry: Entry, { values, inputs, folder = '', foreign }: FoundServer): string | undefined {
  if (folder.includes('${')) return `the name of its folder, ${folder}, would be read as a variable`
  const given = JSON.stringify(values)
  const [id] = [...inputs].find(([id, preset]) => preset.includes('${') && given.includes(`\${input:${id}}`)) ?? []
  if (id !== undefined) return `the default of its input ${id} would be read as a variable`
  const runs = (text: string): boolean => text.includes('${command:')
  return runs(JSON.stringify(entry)) && (foreign !== undefined || !runs(given))
    ? `it runs a program for a value, and ${foreign ?? 'only by its place'}`
    : undefined
}

/** The sentence without the file and the name of the server, which stand beside it. */
const reasonIn = (sentence: string, name: string): string => {
  const mark = `server "${name}"`
  const at = sentence.indexOf(mark)
  if (at < 0) return sentence
  return `it${sentence.slice(at + mark.length).replace(/^: /, 's ')}`.replace(/; it is left out$/, '')
}

const compact = (values: Entry): Entry =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const nonEmpty = (value: unknown): unknown => isObject(value) && Object.keys(value).length === 0 ? undefined : value

/** Writes variables that depend on the file of the client as the config file of Patchbay can have them. */
function toOwnVariables (text: string, { folder = '', inputs }: FoundServer, variable: RegExp | undefined): string {
  const own = text
    .replaceAll('${workspaceFolder}', () => folder) // eslint-disable-line no-template-curly-in-string
    .replaceAll('${workspaceFolderBasename}', () => basename(folder)) // eslint-disable-line no-template-curly-in-string
    .replace(/\$\{input:([^{}]+)\}/g, (whole, id: string) => {
      const preset = inputs.get(id)
      return preset === undefined
        ? whole
        : `\${PATCHBAY_INPUT_${id.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}:-${preset}}`
    })
    .replace(/\$\{file:([^{}~][^{}]*)\}/g, (_, path: string) => `\${file:${resolve(folder, path)}}`)
  return variable === undefined
    ? own
    : own.replace(variable, (_, name: string | undefined, other = '') => `\${${name ?? other}}`)
}

const place = (path: string, { folder = '' }: FoundServer, home: string | undefined): string => {
  if (path.startsWith('~/') && home !== undefined) return resolve(home, path.slice(2))
  return path.startsWith('$') ? path : resolve(folder, path)
}

/** The working directory, where the server has one, is of a project, or needs that of its file. */
function folderOf (
  server: FoundServer,
  cwd: string | undefined,
  args: string[],
  { isProject, home }: ConvertOptions
): string | undefined {
  if (cwd !== undefined) return place(cwd, server, home)
  const { command } = server.values as { command?: unknown }
  const words = [...(typeof command === 'string' ? [command] : []), ...args]
  return isProject || server.path[0] === 'projects' || needsFolder(words, server.folder ?? '')
    ? server.folder
    : undefined
}

/** True where a word of a command line is a path relative to a folder. */
export function needsFolder ([command = '', ...args]: string[], folder: string): boolean {
  const isPath = (word: string): boolean => /^\.\.?([\\/]|$)/.test(word)
  if (isPath(command) || (/[\\/]/.test(command) && !isAbsolute(command) && !/^[$~]/.test(command))) return true
  return args.some(word =>
    isPath(word) || (/^[\w@]/.test(word) && !/^@?[\w.-]+(\/[\w.-]+)?@/.test(word) && existsSync(resolve(folder, word)))
  )
}

/** True for an entry that starts Patchbay, or connects to the gateway of this machine. */
export function isPatchbay ({ command, args, url }: Entry, port: number): boolean {
  const words = (Array.isArray(args) ? args : []).map(String)
  if (typeof command === 'string' && /^patchbay(\.cmd|\.exe)?$/i.test(basename(command.replaceAll('\\', '/')))) {
    return true
  }
  return (
    words.some(word => /^mcp-patchbay(@.*)?$/.test(word) || isOwnScript(word)) ||
    [url, ...words].some(word => typeof word === 'string' && isOwnUrl(word, port))
  )
}

const OWN_SCRIPT = /[\\/](mcp-)?patchbay[^\\/]*[\\/](dist|build)[\\/]cli\.js$/i

const isOwnScript = (word: string): boolean => word !== '' && (word === process.argv[1] || OWN_SCRIPT.test(word))

function isOwnUrl (text: string, port: number): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false
  const { hostname, port: given, pathname } = new URL(text)
  return isLoopback(hostname) && Number(given) === port && /\/mcp(\/|$)/.test(pathname)
}
