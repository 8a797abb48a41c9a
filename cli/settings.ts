import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Options, type Options as Values } from '../options.js'
import { isObject } from '../protocol/wire/json.js'
import { withoutTilde } from '../system/process/data-folder.js'

type Environment = Record<string, string | undefined>

export interface Settings {
  options: Partial<Values>
  /** The command line with absolute paths: it means the same in every folder. */
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

/** Command line, environment and config file as options, not yet checked. Throws a sentence that names what cannot be read. */
export function readSettings (argv: string[], env: Environment, cwd: string): Settings {
  const { values } = parse(argv)
  const { help = false, version = false, config = env[`${PREFIX}CONFIG`] || undefined, plugin, root, data, 'log-level': logLevel, 'keep-serving': keepServing, port, ...rest } = values
  const given = compact({
    ...rest,
    logLevel,
    keepServing,
    port: port === undefined ? undefined : number('--port', port),
    ...inFolder(compact({ plugins: plugin, roots: root, data }), cwd)
  })
  const options = [config === undefined ? {} : fromFile(resolve(cwd, withoutTilde(config))), fromEnvironment(env, cwd), given].reduce(over)
  // A desktop client that launches one gateway per window wants no port unless it says so.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, args: absolute(argv, cwd), help, version }
}

/** The later wins, and where it says where to keep things it says all there is to say about that. */
function over (earlier: Partial<Values>, later: Partial<Values>): Partial<Values> {
  const { data, ephemeral, ...rest } = earlier
  const says = later.data !== undefined || later.ephemeral === true
  return { ...(says ? rest : earlier), ...later }
}

function parse (argv: string[]) {
  try {
    return parseArgs({ args: argv, options: FLAGS, tokens: true })
  } catch (error) {
    throw new Error(`${(error as Error).message.split('\n')[0]?.replace(/\.$/, '')}; see patchbay --help`, { cause: error })
  }
}

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
  return inFolder({ ...(level === '' ? {} : { logLevel: pinoLevel(level) }), ...Object.fromEntries(entries) }, cwd)
}

/** Options that name files or folders, as seen from the folder in which they were written. */
function inFolder (options: Partial<Values>, folder: string): Partial<Values> {
  const { plugins, roots, data } = options
  const place = (path: string) => resolve(folder, withoutTilde(path))
  return {
    ...options,
    ...(Array.isArray(plugins) ? { plugins: plugins.map(file => typeof file === 'string' ? place(file) : file) } : {}),
    ...(Array.isArray(roots) ? { roots: roots.map(root => typeof root === 'string' ? place(root) : root) } : {}),
    ...(typeof data === 'string' && data !== '' ? { data: place(data) } : {})
  }
}

// The name and the levels that Python servers use.
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
  // A switch or a list.
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
    return inFolder(values, dirname(file))
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
