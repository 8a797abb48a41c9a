import { resolve } from 'node:path'
import { resolveOptions, type Options } from '../../options.js'
import { OptionsError } from '../../options/mistakes.js'
import type { Environment } from '../../system/environment.js'
import { withoutTilde } from '../../system/process/data-folder.js'
import { readArguments, type Arguments } from './arguments.js'
import { readConfigFile } from './config-file.js'
import { PREFIX, readEnvironment } from './environment.js'
import { SettingsError, type Source } from './source.js'

export type Settings = Pick<Arguments, 'options' | 'args'>

/**
 * The options of the command line, the environment and the config file, without defaults. Throws a SettingsError if some cannot be read or
 * have a wrong value.
 */
export function readSettings (argv: string[], env: Environment, cwd: string): Settings {
  const { config = env[`${PREFIX}CONFIG`] || undefined, args, ...given } = readArguments(argv, cwd)
  const sources = [...(config === undefined ? [] : [readConfigFile(resolve(cwd, withoutTilde(config)))]), readEnvironment(env, cwd), given]
  const options = sources.map(source => source.options).reduce(merge, {})
  const mistakes = [...sources.flatMap(source => source.mistakes), ...wrongValues(options, sources)]
  if (mistakes.length > 0) throw new SettingsError(mistakes)
  // A desktop client launches one gateway per window: with stdio, a port is opened only if one is set.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, args }
}

/** The later source wins. `data` and `ephemeral` are one setting: if the later source gives either, both earlier values go. */
function merge (earlier: Partial<Options>, later: Partial<Options>): Partial<Options> {
  const { data, ephemeral, ...rest } = earlier
  const givesEither = later.data !== undefined || later.ephemeral === true
  return { ...(givesEither ? rest : earlier), ...later }
}

/** A sentence for each wrong value, which begins with where it was set. */
function wrongValues (options: Partial<Options>, sources: Source[]): string[] {
  try {
    resolveOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error
    return error.mistakes.map(({ path, text }) => {
      const source = sources.findLast(({ options }) => Object.hasOwn(options, path.split('.')[0] ?? ''))
      return source === undefined ? text : `${source.originOf(path)}: ${text}`
    })
  }
}
