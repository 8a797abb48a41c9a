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
