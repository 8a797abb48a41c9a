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
