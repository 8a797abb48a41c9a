import type { Environment } from '../environment.js'

type LibraryError = Error & { xselError?: { stderr?: unknown } }

/** Why the clipboard cannot be used, and what to do about it. Never contains text of the clipboard. */
export class ClipboardError extends Error {
  override readonly name = 'ClipboardError'

  constructor (message: string, readonly hint: string) {
    super(message)
  }
}

const NO_DISPLAY = 'No display environment available'
const WAYLAND =
  'The Wayland compositor that WAYLAND_DISPLAY names must be running and wl-clipboard installed: sudo apt install wl-clipboard'

export const noDisplay = () => new ClipboardError(
  NO_DISPLAY, 'Start the gateway in an X11 or Wayland session, or start Xvfb and set DISPLAY for the gateway')

/** The program from which a text was copied has to supply it, and may fail to. */
export const noAnswer = (ms: number) =>
  new ClipboardError(
    `No answer within ${ms} ms`,
    'The program that owns the clipboard does not answer: copy something in another program, or end that one'
  )

export const tooLong = (max: number) => new ClipboardError(
  `It holds more than ${max} characters`, 'Copy a smaller part')

/** Replaces the text of the library's error, which may quote the clipboard. */
export function clipboardFailure (error: unknown, session: Session): ClipboardError {
  const { message, xselError } = error instanceof Error ? error as LibraryError : { message: '' }
  if (message.startsWith('Clipboard access requires a display server')) {
    return new ClipboardError(
      NO_DISPLAY,
      session === 'wayland'
        ? WAYLAND
        : 'The X server that DISPLAY names does not answer: start it, or Xvfb, or set DISPLAY to one that runs'
    )
  }
  if (message.startsWith("Couldn't find the `xsel` binary")) {
    return session === 'wayland'
      ? new ClipboardError('wl-clipboard does not work', WAYLAND)
      : new ClipboardError('xsel was not found', 'Install it: sudo apt install xsel')
  }
  if (/logfile|HOME directory/.test(String(xselError?.stderr))) {
    return new ClipboardError(
      'xsel cannot write its log file',
      'Set HOME or XDG_CACHE_HOME to a folder that the gateway may write to'
    )
  }
  return new ClipboardError(
    'The clipboard program of this system failed',
    HINTS[session] ?? 'See whether other programs can copy and paste'
  )
}

const HINTS: Partial<Record<Session, string>> = {
  x11: 'Run xsel --clipboard --output in the same session to see why',
  wayland: 'Run wl-paste in the same session to see why'
}

/**
 * The desktop session: `none` is Linux without a display, `other` a system whose clipboard needs none (macOS, Windows,
 * WSL).
 */
export type Session = 'x11' | 'wayland' | 'none' | 'other'

export function sessionOf (platform: string, env: Environment, release: string): Session {
  if (platform !== 'linux' || /microsoft/i.test(release)) return 'other'
  const { DISPLAY = '', WAYLAND_DISPLAY = '', XDG_SESSION_TYPE } = env
  if (WAYLAND_DISPLAY !== '') return 'wayland'
  if (DISPLAY === '') return 'none'
  return XDG_SESSION_TYPE === 'wayland' ? 'wayland' : 'x11'
}
