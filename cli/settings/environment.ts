import type { TSchema } from '@sinclair/typebox'
import { Options, type Options as Values } from '../../options.js'
import { Limits } from '../../options/limits.js'
import { RENAMED } from '../../options/mistakes.js'
import { didYouMean } from '../../lib/nearest-name.js'
import type { Environment } from '../../system/environment.js'
import { docsPage } from '../places.js'
import { readLimits, wholeNumber } from './numbers.js'
import { resolvePaths } from './paths.js'
import type { Source } from './source.js'

export const PREFIX = 'PATCHBAY_'

/** The variable with the key of a caller, for commands that call a gateway. */
export const KEY = `${PREFIX}KEY`

/** Variables that answer what clients ask their user: `${input:…}` in the files of `mcpConfig`. */
const INPUT = `${PREFIX}INPUT_`

/** The longest value that a message repeats. */
const SHOWN = 60

/** The options of the environment, with paths relative to `cwd`. */
export function readEnvironment (env: Environment, cwd: string): Source {
  const variables = new Map(
    Object.entries(Options.properties).map(([name, schema]) => [variableOf(name), { name, schema: schema as TSchema }])
  )
  const mistakes: string[] = []
  const options: Record<string, unknown> = {}
  const { MCP_LOG_LEVEL: level = '', MCP_LOG_JSON: onlyJson } = env
  if (onlyJson === 'true') options['logFormat'] = 'json'
  if (level !== '') collect(mistakes, () => { options['logLevel'] = pinoLevel(level) })
  for (const [key, value] of Object.entries(env)) {
    if (
      !key.startsWith(PREFIX) ||
      key === `${PREFIX}CONFIG` ||
      key === KEY ||
      key.startsWith(INPUT) ||
      value === undefined ||
      value === ''
    ) { continue }
    const option = variables.get(key)
    if (option === undefined) {
      mistakes.push(
        `environment variable ${key} does not exist${meantBy(key, [...variables.keys(), `${PREFIX}CONFIG`])}`
      )
    } else {
      collect(mistakes, () => {
        options[option.name] = convert(key, value, option.schema)
      })
    }
  }
  return { options: resolvePaths(options, cwd), mistakes, originOf: path => variableOf(path.split('.')[0] ?? '') }
}

function meantBy (key: string, variables: string[]): string {
  const limit = Object.keys(Limits.properties).find(name => variableOf(name) === key)
  const [, renamed] = Object.entries(RENAMED).find(([name]) => variableOf(name) === key) ?? []
  if (renamed !== undefined) return `; it is called ${variableOf(renamed)} now`
  return limit === undefined
    ? didYouMean(key, variables) || `; ${docsPage('configure.md')} lists them`
    : `; set ${PREFIX}LIMITS=${limit}=…`
}

function collect (mistakes: string[], read: () => void): void {
  try {
    read()
  } catch (error) {
    mistakes.push((error as Error).message)
  }
}

// MCP_LOG_LEVEL and these names are what Python servers use.
const LEVELS: Record<string, Values['logLevel']> = {
  trace: 'trace',
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  warn: 'warn',
  error: 'error',
  critical: 'fatal',
  alert: 'fatal',
  emergency: 'fatal',
  fatal: 'fatal',
  silent: 'silent'
}

function pinoLevel (level: string): Values['logLevel'] {
  const known = LEVELS[level.toLowerCase()]
  if (known === undefined) {
    throw new Error(
      `environment variable MCP_LOG_LEVEL must be one of ${Object.keys(LEVELS).join(', ')}, not "${level}"`
    )
  }
  return known
}

const variableOf = (option: string): string => PREFIX + option.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

function convert (name: string, value: string, schema: TSchema): unknown {
  switch (schema.type as string | undefined) {
    case undefined:
      return ['true', 'false'].includes(value) ? value === 'true' : list(value)
    case 'integer':
      return wholeNumber(name, value)
    case 'boolean':
      return truth(name, value)
    case 'object':
      return name === `${PREFIX}LIMITS` && !value.startsWith('{')
        ? readLimits(name, [value])
        : json(name, value, schema)
    case 'array':
      return (schema.items as TSchema).type === 'object' || /^\[\s*"/.test(value)
        ? json(name, value, schema)
        : list(value)
    default:
      return value
  }
}

const list = (value: string): string[] => value.split(',').map(part => part.trim()).filter(part => part !== '')

function truth (name: string, value: string): boolean {
  if (!['true', 'false', '1', '0'].includes(value)) throw new Error(`${name} must be true or false, not "${value}"`)
  return value === 'true' || value === '1'
}

function json (name: string, text: string, { examples = [[]] }: TSchema): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(
      `${name} must be JSON, for example '${JSON.stringify((examples as unknown[])[0])}', not "${text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text}"`
    )
  }
}
