import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { resolveOptions, type Options } from '../../options.js'
import { OptionsError, type Mistake } from '../../options/mistakes.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Environment } from '../../system/environment.js'
import { dataFolder, userConfigFile, withoutTilde } from '../../system/process/data-folder.js'
import { readArguments, type Arguments } from './arguments.js'
import { readConfigFile } from './config-file.js'
import { PREFIX, readEnvironment } from './environment.js'
import { SettingsError, type Source } from './source.js'

export interface Settings extends Pick<Arguments, 'options' | 'args'> {
  /** The config file, also where that of the user is not there yet; undefined if there is no place for one. */
  file: string | undefined
  /** True where the config file was read. */
  isRead: boolean
  /** The sentences about mistakes in the options, each with where the option was set. */
  locate: (mistakes: Mistake[]) => string[]
}

/**
 * The options of the command line, the environment and the config file, without defaults. Throws a SettingsError if
 * some cannot be read or have a wrong value. The config file of the user, where none is named, is read if it is there,
 * has to be there, or is ignored.
 */
export function readSettings (
  argv: string[],
  env: Environment,
  cwd: string,
  userFile: 'if there' | 'needed' | 'ignored' = 'if there'
): Settings {
  const { config, args, ...given } = readArguments(argv, cwd)
  const { file, isNamed } = findConfigFile(config, env, cwd)
  const isRead = file !== undefined && (isNamed || userFile === 'needed' || (userFile === 'if there' && existsSync(file)))
  const sources = [...(isRead ? [readConfigFile(file, isNamed)] : []), readEnvironment(env, cwd), given]
  const options = sources.map(source => source.options).reduce(merge, {})
  const mistakes = [...sources.flatMap(source => source.mistakes), ...wrongValues(options, sources)]
  if (mistakes.length > 0) throw new SettingsError(mistakes)
  // A desktop client launches one gateway per window: with stdio, a port is opened only if one is set.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, args, file, isRead, locate: mistakes => locate(mistakes, sources) }
}

/**
 * The config file that `--config` or the environment names, or else that of the user, which is read if it is there.
 */
export function findConfigFile (
  config: string | undefined,
  env: Environment,
  cwd: string
): { file: string | undefined, isNamed: boolean } {
  const named = config ?? (env[`${PREFIX}CONFIG`] || undefined)
  return named === undefined
    ? { file: userConfigFile(process.platform, env), isNamed: false }
    : { file: resolve(cwd, withoutTilde(named)), isNamed: true }
}

/** The error, with where the options that it is about were set. */
export const withPlaces = (error: Error, { locate }: Settings): Error =>
  error instanceof OptionsError ? new SettingsError(locate(error.mistakes)) : error

/** Adds the default data folder of the user, where one is used. */
export function withData (options: Options): Options {
  return options.redis !== undefined || options.ephemeral || options.data !== undefined
    ? options
    : { ...options, data: dataFolder(process.platform, process.env) }
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
