import { isAbsolute, join } from 'node:path'
import { homeFolder, type Environment } from '../environment.js'

/** Where the platform keeps the data of a user's programs. Throws a sentence when the user has no home. */
export function dataFolder (platform: string, env: Environment, home = homeFolder()): string {
  if (platform === 'win32') {
    return join(absolute(env.LOCALAPPDATA) ?? join(homeOf(home), 'AppData', 'Local'), 'patchbay')
  }
  if (platform === 'darwin') return join(homeOf(home), 'Library', 'Application Support', 'patchbay')
  // The specification of these folders has relative paths ignored.
  return join(absolute(env.XDG_DATA_HOME) ?? join(homeOf(home), '.local', 'share'), 'patchbay')
}

/**
 * The config file of the user, which may not be there. Undefined where the environment names no home folder: then there
 * is none.
 */
export function userConfigFile (platform: string, env: Environment): string | undefined {
  const inHome = (home: string | undefined, ...parts: string[]): string | undefined => {
    const path = absolute(home)
    return path === undefined ? undefined : join(path, ...parts)
  }
  const folder = platform === 'win32'
    ? absolute(env.APPDATA) ?? inHome(env.USERPROFILE, 'AppData', 'Roaming')
    : platform === 'darwin'
      ? inHome(env.HOME, 'Library', 'Application Support')
      : absolute(env.XDG_CONFIG_HOME) ?? inHome(env.HOME, '.config')
  return folder === undefined ? undefined : join(folder, 'patchbay', 'patchbay.json')
}

/** The path that a shell would have made of one that begins with ~. */
export function withoutTilde (path: string, home = homeFolder()): string {
  return path === '~' || path.startsWith('~/') ? join(homeOf(home), path.slice(1)) : path
}

const absolute = (path = ''): string | undefined => isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path) ? path : undefined

function homeOf (home: string | undefined): string {
  const path = absolute(home)
  if (path === undefined) {
    throw new Error(
      'there is no home folder to keep things in: choose a folder with --data, or keep nothing with --ephemeral'
    )
  }
  return path
}
