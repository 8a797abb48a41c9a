import { isatty } from 'node:tty'
import { STANDARD_ERROR } from '../../system/process/standard-error.js'

/**
 * Keeps SIGHUP from ending the process from now on. Returns a function that sets the action of SIGHUP; if a signal came before that,
 * the action runs at once.
 */
export function catchHangUp (): (act: () => void) => void {
  let missed = false
  let act = () => { missed = true }
  process.on('SIGHUP', () => act())
  return chosen => {
    act = chosen
    if (missed) act()
  }
}

/** Returns a function that is true once the terminal that showed the log was closed: standard error was a terminal and no longer is. */
export function watchTerminal (isTerminal: () => boolean = () => isatty(STANDARD_ERROR)): () => boolean {
  const before = isTerminal()
  return () => before && !isTerminal()
}
