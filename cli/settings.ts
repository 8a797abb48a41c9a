import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Options, type Options as Values } from '../options.js'
import { isObject } from '../protocol/wire/json.js'
import type { Environment } from '../system/environment.js'
import { withoutTilde } from '../system/process/data-folder.js'
import { parseOrHint } from './parse-arguments.js'

export interface Settings {
  options: Partial<Values>
  /** The command line with absolute paths, so that it means the same in every folder. */
  args: string[]
  help: boolean
  version: boolean
}

const PREFIX = 'PATCHBAY_'
const FLAGS = {
  stdio: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string' },
  plugin: { type: 'string', multiple: true },
  root: { type: 'string', multiple: true },
  data: { type: 'string' },
  ephemeral: { type: 'boolean' },
  config: { type: 'string' },
  'log-level': { type: 'string' },
  'keep-serving': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' }
} as const

export const USAGE = `Usage: patchbay [--stdio] [--port N] [--host H] [--plugin FILE]... [--root DIR]...
                [--data DIR | --ephemeral] [--config FILE] [--log-level L] [--keep-serving]
       patchbay key NAME [--scope SCOPE]...

  --stdio         serve standard input and output; HTTP only if --port is given too
  --port N        listen for HTTP and WebSocket on this port (8080)
  --host H        listen on this address (127.0.0.1)
  --plugin FILE   load a tool, resource, prompt or Fastify plugin (TypeScript or JavaScript); may be repeated
  --root DIR      serve the files of a folder, read-only, as resources; may be repeated
  --data DIR      keep notes, the counter, sessions and event streams in this folder
  --ephemeral     keep them in memory, until the process ends
  --config FILE   read options from a JSON file
  --log-level L   fatal, error, warn, info, debug, trace or silent; logs go to standard error (info)
  --keep-serving  with --stdio and --port: go on serving HTTP when standard input ends
  --help          show this text
  --version       show the version

  key NAME        print a new API key, and what to put into the config file so that it is accepted;
                  --scope says what for and may be repeated (mcp)

Every option can also be set as an environment variable, for example ${PREFIX}PORT=9000 or ${PREFIX}PAGE_SIZE=50.
Command line, environment and config file win over each other in this order. docs/configure.md lists all options.
`

/** The options of the command line, the environment and the config file, not checked yet. Throws a sentence that names what cannot be read. */
export function readSettings (argv: string[], env: Environment, cwd: string): Settings {
  const { values } = parse(argv)
  const { help = false, version = false, config = env[`${PREFIX}CONFIG`] || undefined, plugin, root, data, 'log-level': logLevel, 'keep-serving': keepServing, port, ...rest } = values
  const given = compact({
    ...rest,
    logLevel,
    keepServing,
    port: port === undefined ? undefined : number('--port', port),
    ...resolvePaths(compact({ plugins: plugin, roots: root, data }), cwd)
  })
  const options = [config === undefined ? {} : fromFile(resolve(cwd, withoutTilde(config))), fromEnvironment(env, cwd), given].reduce(merge)
  // A desktop client launches one gateway per window: with stdio, a port is opened only if one is set.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, args: absolute(argv, cwd), help, version }
}

/** The later source wins. `data` and `ephemeral` are one setting: if the later source gives either, both earlier values go. */
function merge (earlier: Partial<Values>, later: Partial<Values>): Partial<Values> {
  const { data, ephemeral, ...rest } = earlier
  const givesEither = later.data !== undefined || later.ephemeral === true
  return { ...(givesEither ? rest : earlier), ...later }
}

const parse = (args: string[]) => parseOrHint({ args, options: FLAGS, tokens: true })

function absolute (argv: string[], cwd: string): string[] {
  return parse(argv).tokens.flatMap(token => {
    if (token.kind !== 'option') return []
    if (token.value === undefined) return [token.rawName]
    return [token.rawName, ['plugin', 'config', 'root', 'data'].includes(token.name) ? resolve(cwd, token.value) : token.value]
  })
}

function fromEnvironment (env: Environment, cwd: string): Partial<Values> {
  const variables = new Map(Object.entries(Options.properties).map(([name, schema]) => [variable(name), { name, type: schema.type as string | undefined }]))
  const entries = Object.entries(env).flatMap(([key, value]) => {
    if (!key.startsWith(PREFIX) || key === `${PREFIX}CONFIG` || value === undefined || value === '') return []
    const option = variables.get(key)
    if (option === undefined) throw new Error(`environment variable ${key} does not exist; docs/configure.md lists them`)
    return [[option.name, convert(key, value, option.type)]]
  })
  const { MCP_LOG_LEVEL: level = '' } = env
  return resolvePaths({ ...(level === '' ? {} : { logLevel: pinoLevel(level) }), ...Object.fromEntries(entries) }, cwd)
}

/** The options with their paths made absolute, relative to the folder of their source. */
function resolvePaths (options: Partial<Values>, folder: string): Partial<Values> {
  const { plugins, roots, data } = options
  const place = (path: string) => resolve(folder, withoutTilde(path))
  return {
    ...options,
    ...(Array.isArray(plugins) ? { plugins: plugins.map(file => typeof file === 'string' ? place(file) : file) } : {}),
    ...(Array.isArray(roots) ? { roots: roots.map(root => typeof root === 'string' ? place(root) : root) } : {}),
    ...(typeof data === 'string' && data !== '' ? { data: place(data) } : {})
  }
}

// MCP_LOG_LEVEL and these names are what Python servers use.
const LEVELS: Record<string, Values['logLevel']> = {
  trace: 'trace', debug: 'debug', info: 'info', notice: 'info', warning: 'warn', warn: 'warn', error: 'error', critical: 'fatal', alert: 'fatal', emergency: 'fatal', fatal: 'fatal', silent: 'silent'
}

function pinoLevel (level: string): Values['logLevel'] {
  const known = LEVELS[level.toLowerCase()]
  if (known === undefined) throw new Error(`environment variable MCP_LOG_LEVEL must be one of ${Object.keys(LEVELS).join(', ')}, not "${level}"`)
  return known
}

const variable = (option: string): string => PREFIX + option.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

function convert (name: string, value: string, type: string | undefined): unknown {
  // trustProxy: a boolean or a list.
  if (type === undefined) return convert(name, value, ['true', 'false'].includes(value) ? 'boolean' : 'array')
  if (type === 'integer') return number(name, value)
  if (type === 'array' && value.startsWith('[{')) return json(name, value)
  if (type === 'array') return value.split(',').map(part => part.trim()).filter(part => part !== '')
  if (type === 'object') return json(name, value)
  if (type !== 'boolean') return value
  if (!['true', 'false', '1', '0'].includes(value)) throw new Error(`${name} must be true or false, not "${value}"`)
  return value === 'true' || value === '1'
}

function fromFile (file: string): Partial<Values> {
  try {
    const values: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(values)) throw new Error('it must hold a JSON object')
    return resolvePaths(values, dirname(file))
  } catch (error) {
    throw new Error(`config file ${file}: ${(error as Error).message}`, { cause: error })
  }
}

function json (name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(`${name} must be JSON, for example {"remote":true}, not "${text}"`)
  }
}

function number (name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value)) throw new Error(`${name} must be a whole number, not "${text}"`)
  return value
}

function compact (values: Record<string, unknown>): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
