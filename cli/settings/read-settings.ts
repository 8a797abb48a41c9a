import { resolve } from 'node:path'
import { resolveOptions, type Options } from '../../options.js'
import { OptionsError, type Mistake } from '../../options/mistakes.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Environment } from '../../system/environment.js'
import { withoutTilde } from '../../system/process/data-folder.js'
import { readArguments, type Arguments } from './arguments.js'
import { readConfigFile } from './config-file.js'
import { PREFIX, readEnvironment } from './environment.js'
import { SettingsError, type Source } from './source.js'

export interface Settings extends Pick<Arguments, 'options' | 'args'> {
  /** The config file, if there is one. */
  file: string | undefined
  /** The sentences about mistakes in the options, each with where the option was set. */
  locate: (mistakes: Mistake[]) => string[]
}

/**
 * The options of the command line, the environment and the config file, without defaults. Throws a SettingsError if
 * some cannot be read or have a wrong value.
 */
export function readSettings (argv: string[], env: Environment, cwd: string): Settings {
  const { config = env[`${PREFIX}CONFIG`] || undefined, args, ...given } = readArguments(argv, cwd)
  const file = config === undefined ? undefined : resolve(cwd, withoutTilde(config))
  const sources = [...(file === undefined ? [] : [readConfigFile(file)]), readEnvironment(env, cwd), given]
  const options = sources.map(source => source.options).reduce(merge, {})
  const mistakes = [...sources.flatMap(source => source.mistakes), ...wrongValues(options, sources)]
  if (mistakes.length > 0) throw new SettingsError(mistakes)
  // A desktop client launches one gateway per window: with stdio, a port is opened only if one is set.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, args, file, locate: mistakes => locate(mistakes, sources) }
}

/**
 * The later source wins, of the limits for each. `data` and `ephemeral` are one setting: if the later source gives
 * either, both earlier values go.
 */
function merge (earlier: Partial<Options>, later: Partial<Options>): Partial<Options> {
  const { data, ephemeral, ...rest } = earlier
  const givesEither = later.data !== undefined || later.ephemeral === true
  const limits =
    isObject(earlier.limits) && isObject(later.limits) ? { limits: { ...earlier.limits, ...later.limits } } : {}
  return { ...(givesEither ? rest : earlier), ...later, ...limits }
}

/** A sentence for each wrong value, which begins with where it was set. */
function wrongValues (options: Partial<Options>, sources: Source[]): string[] {
  try {
    resolveOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error
    return locate(error.mistakes, sources)
  }
}

function locate (mistakes: Mistake[], sources: Source[]): string[] {
  return mistakes.map(({ path, text }) => {
    const [name = '', inner] = path.split('.')
    const source = sources.findLast(
      ({ options }) =>
        Object.hasOwn(options, name) &&
        (name !== 'limits' || inner === undefined || Object.hasOwn(options.limits ?? {}, inner))
    )
    return source === undefined ? text : `${source.originOf(path)}: ${text}`
  })
}
