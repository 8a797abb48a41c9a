import { isatty } from 'node:tty'
import { STANDARD_ERROR } from '../system/process/standard-error.js'

/**
 * Keeps SIGHUP from ending the process from now on. Returns a function that takes what SIGHUP is to do; a signal that came before
 * it was called is acted on then, once.
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

/** Returns how to tell, when SIGHUP comes, that it came because the terminal that showed the log was closed: it is no terminal any more. */
export function watchTerminal (isTerminal: () => boolean = () => isatty(STANDARD_ERROR)): () => boolean {
  const before = isTerminal()
  return () => before && !isTerminal()
}
