import { constants } from 'node:os'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Whether the gateway is up, so that a signal finds something to end in order. */
let up = false
let heard = 0

/**
 * What SIGTERM and SIGINT do. Before the gateway is up they end the process at once, with 128 and their number, as if they had not been
 * handled. Then the first one is for `close-with-grace`, and the second, whichever it is, ends the process at once with 1.
 * These listeners stay: without any, Node.js closes its handle, and drops a second signal that has arrived with the first.
 */
export function watchSignals (onSecond: (signal: string) => void): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (!up) process.exit(128 + constants.signals[signal])
      if (++heard < 2) return
      onSecond(signal)
      process.exit(1)
    })
  }
}

export const isUp = (): boolean => up

/** From now on a signal ends the gateway in order. */
export function expectSignals (): void {
  up = true
}
