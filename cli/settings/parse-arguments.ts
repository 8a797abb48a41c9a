import { parseArgs, type ParseArgsConfig } from 'node:util'

/** `parseArgs`, whose errors say where the usage is described. */
export function parseOrHint<T extends ParseArgsConfig> (config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new Error(`${(error as Error).message.split('\n')[0]?.replace(/\.$/, '')}; see patchbay --help`, { cause: error })
  }
}
