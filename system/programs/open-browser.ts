import { spawn } from 'node:child_process'
import type { Environment } from '../environment.js'

/** The program that opens a URL, and its arguments; undefined where there is no browser to open it in. */
export function browserCommand (
  url: URL,
  platform: string = process.platform,
  env: Environment = process.env
): [program: string, ...args: string[]] | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  if (platform === 'darwin') return ['open', url.href]
  // Not `start`, which is a word of a shell that gives `&` a meaning.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url.href]
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(display => display !== undefined && display !== '')
  return hasDisplay ? ['xdg-open', url.href] : undefined
}

/** Opens a URL in the user's browser, without a shell. False where there is none; a program that fails is not told. */
export function openBrowser (url: URL): boolean {
  const command = browserCommand(url)
  if (command === undefined) return false
  const [program, ...args] = command
  spawn(program, args, { stdio: 'ignore', detached: true }).on('error', () => {}).unref()
  return true
}
