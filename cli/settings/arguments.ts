import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { locatePlugin } from '../../loader/plugin-place.js'
import type { Options } from '../../options.js'
import { readLimits, wholeNumber } from './numbers.js'
import { parseOrHint } from './parse-arguments.js'
import { resolvePaths } from './paths.js'
import type { Source } from './source.js'

const FLAGS = {
  stdio: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string' },
  plugin: { type: 'string', multiple: true },
  reload: { type: 'boolean' },
  root: { type: 'string', multiple: true },
  'mcp-config': { type: 'string', multiple: true },
  view: { type: 'string' },
  data: { type: 'string' },
  ephemeral: { type: 'boolean' },
  redis: { type: 'string' },
  config: { type: 'string' },
  limit: { type: 'string', multiple: true },
  'log-level': { type: 'string' },
  'log-format': { type: 'string' },
  'keep-serving': { type: 'boolean' },
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' }
} as const

/** The flags that npm has no option of the same name for. */
export const FLAG_NAMES = Object.keys(FLAGS).filter(name => !['help', 'version'].includes(name))

export interface Arguments extends Source {
  /** The command line with absolute paths, so that it means the same in every folder. */
  args: string[]
  config: string | undefined
  check: boolean
  help: boolean
  version: boolean
}

/** Reads the command line, with paths relative to `cwd`. Throws a sentence that names the argument. */
export function readArguments (argv: string[], cwd: string): Arguments {
  const { values } = parse(argv)
  const {
    check = false,
    help = false,
    version = false,
    config,
    plugin,
    root,
    data,
    'mcp-config': mcpConfig,
    'log-level': logLevel,
    'log-format': logFormat,
    'keep-serving': keepServing,
    port,
    limit,
    ...rest
  } = values
  const options = compact({
    ...rest,
    logLevel,
    logFormat,
    keepServing,
    port: port === undefined ? undefined : wholeNumber('--port', port),
    limits: limit === undefined ? undefined : readLimits('--limit', limit),
    ...resolvePaths(compact({ plugins: plugin, roots: root, data, mcpConfig }), cwd)
  })
  return { options, args: absolute(argv, cwd), config, check, help, version, mistakes: [], originOf: flagOf }
}

/** The first word that is neither a flag nor the value of one, and the command line without it. */
export function takeWord (argv: string[]): { word: string | undefined, rest: string[] } {
  const { tokens } = parseArgs({ args: argv, options: FLAGS, strict: false, tokens: true })
  const found = tokens.find(token => token.kind === 'positional')
  return { word: found?.value, rest: argv.filter((_, index) => index !== found?.index) }
}

/** The value of a flag that no option has, and the command line without both. Throws a sentence where it has none. */
export function takeValue (argv: string[], flag: string): { value: string | undefined, rest: string[] } {
  const at = argv.findIndex(word => word === flag || word.startsWith(`${flag}=`))
  if (at < 0) return { value: undefined, rest: argv }
  const isSeparate = argv[at] === flag
  const value = isSeparate ? argv[at + 1] : argv[at]?.slice(flag.length + 1)
  if (value === undefined || value === '') throw new Error(`${flag} needs a value`)
  return { value, rest: argv.toSpliced(at, isSeparate ? 2 : 1) }
}

/** The flag that sets an option, or one of the limits. */
function flagOf (path: string): string {
  const [name = '', inner = ''] = path.split('.')
  if (name === 'limits') return `--limit ${inner}`
  return name === 'plugins'
    ? '--plugin'
    : name === 'roots'
      ? '--root'
      : `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

const parse = (args: string[]) => parseOrHint({ args, options: FLAGS, tokens: true })

function absolute (argv: string[], cwd: string): string[] {
  return parse(argv).tokens.flatMap(token => {
    if (token.kind !== 'option') return []
    if (token.value === undefined) return [token.rawName]
    if (token.name === 'plugin') return [token.rawName, locatePlugin(token.value, cwd)]
    return [
      token.rawName,
      ['config', 'root', 'data', 'mcp-config'].includes(token.name) ? resolve(cwd, token.value) : token.value
    ]
  })
}

function compact (values: Record<string, unknown>): Partial<Options> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
