import type { Environment } from '../environment.js'

/** The desktop session: `none` is Linux without a display, `other` a system whose clipboard needs none (macOS, Windows, WSL). */
export type Session = 'x11' | 'wayland' | 'none' | 'other'

export function sessionOf (platform: string, env: Environment, release: string): Session {
  if (platform !== 'linux' || /microsoft/i.test(release)) return 'other'
  const { DISPLAY = '', WAYLAND_DISPLAY = '', XDG_SESSION_TYPE } = env
  if (WAYLAND_DISPLAY !== '') return 'wayland'
  if (DISPLAY === '') return 'none'
  return XDG_SESSION_TYPE === 'wayland' ? 'wayland' : 'x11'
}
