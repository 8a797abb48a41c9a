import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearestName } from '../../lib/nearest-name.js'
import { Options } from '../../options.js'
import { Limits } from '../../options/limits.js'
import { RENAMED } from '../../options/mistakes.js'
import type { Environment } from '../../system/environment.js'
import { withoutPassword } from '../../system/redis/url.js'

/** `parseArgs`, whose errors say what was likely meant, or where the usage is described. */
export function parseOrHint<T extends ParseArgsConfig> (config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new Error(hint((error as Error).message.split('\n')[0] ?? '', Object.keys(config.options ?? {})), {
      cause: error
    })
  }
}

function hint (message: string, flags: string[]): string {
  const [, unknown] = /^Unknown option '(--?[^']*)'/.exec(message) ?? []
  if (unknown !== undefined) return `there is no option ${unknown}${meantBy(unknown.replace(/^-+/, ''), flags)}`
  const [, stray] = /^Unexpected argument '([^']*)'/.exec(message) ?? []
  if (stray !== undefined) {
    return `"${withoutPassword(stray)}" is not an option${flags.includes(stray) ? `; did you mean --${stray}?` : '; see patchbay --help'}`
  }
  return `${message.replace(/\.$/, '')}; see patchbay --help`
}

function meantBy (name: string, flags: string[]): string {
  const option = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  if (flags.includes('config') && Object.hasOwn(Options.properties, option)) {
    return ` on the command line; set ${option} in the config file or PATCHBAY_${name.replaceAll('-', '_').toUpperCase()} in the environment`
  }
  if (flags.includes('limit') && Object.hasOwn(Limits.properties, option)) return `; write --limit ${option}=…`
  const renamed = Object.hasOwn(RENAMED, option) ? RENAMED[option] : undefined
  if (renamed !== undefined && flags.includes(renamed)) return `; it is called --${renamed} now`
  const nearest = nearestName(name, flags)
  return nearest === undefined ? '; see patchbay --help' : `; did you mean --${nearest}?`
}

/**
 * A sentence if `npm start` was given options of the command without the two dashes, so that npm took them for its own.
 */
export function npmFlagsWarning (flags: string[], env: Environment): string | undefined {
  if (env['npm_lifecycle_event'] !== 'start') return undefined
  const taken = flags
    .filter(flag => env[`npm_config_${flag.replaceAll('-', '_')}`] !== undefined)
    .map(flag => `--${flag}`)
  return taken.length === 0
    ? undefined
    : `npm took ${taken.join(' and ')} for its own; npm needs two dashes before options: npm start -- ${taken.join(' ')}`
}
