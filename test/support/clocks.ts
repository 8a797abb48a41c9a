import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Test } from 'tap'

/** Moves the clock that cannot be set, for this process and until the test ends; timers do not notice. */
export function turnable (t: Test): { later: number } {
  const clock = { later: 0 }
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + clock.later })
  return clock
}

/** Sets the time of day, for this process and until the test ends. */
export function settable (t: Test): { later: number } {
  const clock = { later: 0 }
  const { now } = Date
  t.intercept(Date, 'now', { value: () => now() + clock.later })
  return clock
}

/**
 * Stops the timers and both clocks of this process until the test ends. `pass` lets them go on in steps of some milliseconds, each
 * followed by what it sets off in the event loop; `after` settles when so much has passed. What wait.ts exports goes on: it has the timers of the machine.
 */
export function stopTime (t: Test): { pass: (ms: number, step?: number) => Promise<void>, after: (ms: number) => Promise<void> } {
  const stoppedAt = performance.now()
  let passed = 0
  t.intercept(performance, 'now', { value: () => stoppedAt + passed })
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  return {
    after: async ms => await new Promise(resolve => { setTimeout(resolve, ms) }),
    pass: async (ms, step = 5) => {
      for (const end = passed + ms; passed < end;) {
        const next = Math.min(step, end - passed)
        passed += next
        mock.timers.tick(next)
        await turn()
      }
    }
  }
}
