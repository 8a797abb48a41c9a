import { resolve } from 'node:path'
import type { Options } from '../../options.js'
import type { Environment } from '../../system/environment.js'
import { withoutTilde } from '../../system/process/data-folder.js'
import { withoutPassword } from '../../system/redis/url.js'
import { PREFIX, readEnvironment } from '../settings/environment.js'
import { readSettings } from '../settings/read-settings.js'

/** Variables that the arguments of a client replace, and those that open a port: two clients cannot listen on one. */
const LEFT_OUT = ['STDIO', 'HTTP', 'PORT', 'HOST', 'KEEP_SERVING']

/** Variables that say where the config file of the user is. */
const HOMES = ['HOME', 'XDG_CONFIG_HOME', 'APPDATA', 'USERPROFILE']

/** Variables whose values are not displayed, and the text that stands in their place. */
const SECRETS: Record<string, string> = { TOKEN: '<your token>', SECRET: '<your secret>', API_KEYS: '<your API keys>' }

/**
 * The variables of `env` with which a gateway that a client launches with these arguments has the same options as this
 * one, and opens no port. Paths are absolute, and secrets are left to the user.
 */
export function clientEnvironment (args: string[], env: Environment, cwd: string): Record<string, string> {
  const { options } = readEnvironment(env, cwd)
  const set = Object.entries(env).flatMap(([key, value = '']) => {
    const name = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : ''
    return name === '' || value === '' || LEFT_OUT.includes(name)
      ? []
      : [[name, absolute(name, value, options, cwd)] as const]
  })
  const named = (entries: ReadonlyArray<readonly [string, string]>) =>
    Object.fromEntries(entries.map(([name, value]) => [`${PREFIX}${name}`, value]))
  const places = Object.fromEntries(HOMES.map(name => [name, env[name]]))
  const opensPort = readSettings(args, { ...places, ...named(set) }, cwd).options.http === true
  return named([
    ...set.map(([name, value]) => [name, SECRETS[name] ?? withoutPassword(value)] as const),
    ...(opensPort ? [['HTTP', 'false'] as const] : [])
  ])
}

function absolute (
  name: string,
  value: string,
  { data, plugins = [], roots = [], tls }: Partial<Options>,
  cwd: string
): string {
  switch (name) {
    case 'CONFIG':
      return resolve(cwd, withoutTilde(value))
    case 'DATA':
      return data ?? value
    case 'PLUGINS':
      return joinPaths(plugins.filter(entry => typeof entry === 'string'))
    case 'ROOTS':
      return joinPaths(roots)
    case 'TLS':
      return JSON.stringify(tls)
    default:
      return value
  }
}

const joinPaths = (paths: string[]): string =>
  paths.some(path => path.includes(',')) ? JSON.stringify(paths) : paths.join(',')
