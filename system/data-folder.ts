import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Record<string, string | undefined>

/** Where the platform keeps the data of a user's programs. */
export function dataFolder (platform: string, env: Environment, home = homedir()): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'patchbay')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'patchbay')
  // The specification of these folders has relative paths ignored.
  const { XDG_DATA_HOME: data = '' } = env
  return join(data.startsWith('/') ? data : join(home, '.local', 'share'), 'patchbay')
}
