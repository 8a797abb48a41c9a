import type { Environment } from '../../system/environment.js'

/** A sentence if `npm start` was given options of the command without the two dashes, so that npm took them for its own. */
export function npmFlagsWarning (flags: string[], env: Environment): string | undefined {
  if (env['npm_lifecycle_event'] !== 'start') return undefined
  const taken = flags.filter(flag => env[`npm_config_${flag.replaceAll('-', '_')}`] !== undefined).map(flag => `--${flag}`)
  return taken.length === 0 ? undefined : `npm took ${taken.join(' and ')} for its own; npm needs two dashes before options: npm start -- ${taken.join(' ')}`
}
