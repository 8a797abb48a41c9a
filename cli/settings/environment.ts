import { Options, type Options as Values } from '../../options.js'
import type { Environment } from '../../system/environment.js'
import { wholeNumber } from './numbers.js'
import { resolvePaths } from './paths.js'

export const PREFIX = 'PATCHBAY_'

/** The options of the environment, with paths relative to `cwd`. Throws a sentence that names the variable. */
export function fromEnvironment (env: Environment, cwd: string): Partial<Values> {
  const variables = new Map(Object.entries(Options.properties).map(([name, schema]) => [variable(name), { name, type: schema.type as string | undefined }]))
  const entries = Object.entries(env).flatMap(([key, value]) => {
    if (!key.startsWith(PREFIX) || key === `${PREFIX}CONFIG` || value === undefined || value === '') return []
    const option = variables.get(key)
    if (option === undefined) throw new Error(`environment variable ${key} does not exist; docs/configure.md lists them`)
    return [[option.name, convert(key, value, option.type)]]
  })
  const { MCP_LOG_LEVEL: level = '', MCP_LOG_JSON: json } = env
  return resolvePaths({ ...(level === '' ? {} : { logLevel: pinoLevel(level) }), ...(json === 'true' ? { logFormat: 'json' } : {}), ...Object.fromEntries(entries) }, cwd)
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
  if (type === 'integer') return wholeNumber(name, value)
  if (type === 'array' && value.startsWith('[{')) return json(name, value)
  if (type === 'array') return value.split(',').map(part => part.trim()).filter(part => part !== '')
  if (type === 'object') return json(name, value)
  if (type !== 'boolean') return value
  if (!['true', 'false', '1', '0'].includes(value)) throw new Error(`${name} must be true or false, not "${value}"`)
  return value === 'true' || value === '1'
}

function json (name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(`${name} must be JSON, for example {"remote":true}, not "${text}"`)
  }
}
