import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { STANDARD_ERROR } from '../../system/process/standard-error.js'
import { allowExit } from './exit-guard.js'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** True once the gateway is up: a signal then shuts it down in order. */
let up = false
let received = 0

/**
 * Handles SIGTERM and SIGINT. Before the gateway is up they end the process at once with exit code 128 plus their
 * number, as without a handler. After that the first one is left to `close-with-grace`, and a second one of either kind
 * ends the process at once with 1. The listeners are never removed: without any, Node.js closes its signal handle and
 * drops a second signal that arrived with the first.
 */
export function watchSignals (onSecond: (signal: string) => void): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      allowExit()
      if (!up) process.exit(128 + constants.signals[signal])
      if (++received < 2) return
      onSecond(signal)
      process.exit(1)
    })
  }
}

export const isUp = (): boolean => up

/** From now on a signal shuts the gateway down in order. */
export function expectSignals (): void {
  up = true
  allowExit()
}

/**
 * Keeps SIGHUP from ending the process from now on. Returns a function that sets the action of SIGHUP; if a signal came
 * before that, the action runs at once.
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

/**
 * Returns a function that is true once the terminal that showed the log was closed: standard error was a terminal and
 * no longer is.
 */
export function watchTerminal (isTerminal: () => boolean = () => isatty(STANDARD_ERROR)): () => boolean {
  const before = isTerminal()
  return () => before && !isTerminal()
}
