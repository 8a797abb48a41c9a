import { resolve } from 'node:path'
import type { Options } from '../../options.js'
import type { Environment } from '../../system/environment.js'
import { withoutTilde } from '../../system/process/data-folder.js'
import { readArguments, type Arguments } from './arguments.js'
import { fromFile } from './config-file.js'
import { fromEnvironment, PREFIX } from './environment.js'

export type Settings = Omit<Arguments, 'config'>

/** The options of the command line, the environment and the config file, not checked yet. Throws a sentence that names what cannot be read. */
export function readSettings (argv: string[], env: Environment, cwd: string): Settings {
  const { config = env[`${PREFIX}CONFIG`] || undefined, options: given, ...rest } = readArguments(argv, cwd)
  const options = [config === undefined ? {} : fromFile(resolve(cwd, withoutTilde(config))), fromEnvironment(env, cwd), given].reduce(merge)
  // A desktop client launches one gateway per window: with stdio, a port is opened only if one is set.
  if (options.stdio === true && options.http === undefined) options.http = options.port !== undefined
  return { options, ...rest }
}

/** The later source wins. `data` and `ephemeral` are one setting: if the later source gives either, both earlier values go. */
function merge (earlier: Partial<Options>, later: Partial<Options>): Partial<Options> {
  const { data, ephemeral, ...rest } = earlier
  const givesEither = later.data !== undefined || later.ephemeral === true
  return { ...(givesEither ? rest : earlier), ...later }
}
