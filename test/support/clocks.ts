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
 * Stops the timers that are set from now on, and both clocks of this process, until the test ends. `pass` lets them go
 * on in steps of some milliseconds, each followed by what it sets off in the event loop; `after` settles when so much
 * has passed. What wait.ts exports goes on: it has the timers of the machine.
 */
export function stopTime (t: Test): {
  pass: (ms: number, step?: number) => Promise<void>
  after: (ms: number) => Promise<void>
} {
  const [stoppedAt, date] = [performance.now(), Date.now()]
  let passed = 0
  const timers = new Set<StoppedTimer>()
  const clear = (timer: unknown, clearReal: (timer: NodeJS.Timeout | undefined) => void): void => {
    if (timer instanceof StoppedTimer) timers.delete(timer)
    else clearReal(timer as NodeJS.Timeout | undefined)
  }
  const set = (run: (...args: unknown[]) => void, ms: number, repeats: boolean, args: unknown[] = []): StoppedTimer => {
    const timer = new StoppedTimer(run, args, ms, repeats, () => passed)
    timers.add(timer)
    return timer
  }
  const { clearTimeout, clearInterval } = globalThis
  t.intercept(performance, 'now', { value: () => stoppedAt + passed })
  t.intercept(Date, 'now', { value: () => date + passed })
  t.intercept(globalThis, 'setTimeout', {
    value: (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => set(run, ms, false, args)
  })
  t.intercept(globalThis, 'setInterval', {
    value: (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => set(run, ms, true, args)
  })
  t.intercept(globalThis, 'clearTimeout', { value: (timer: unknown) => clear(timer, clearTimeout) })
  t.intercept(globalThis, 'clearInterval', { value: (timer: unknown) => clear(timer, clearInterval) })
  return {
    after: async ms =>
      await new Promise<void>(resolve => {
        set(() => resolve(), ms, false)
      }),
    pass: async (ms, step = 5) => {
      for (const end = passed + ms; passed < end;) {
        passed = Math.min(passed + step, end)
        for (const timer of [...timers].sort((one, other) => one.dueAt - other.dueAt)) {
          if (timer.dueAt > passed || !timers.has(timer)) continue
          if (timer.repeats) timer.refresh()
          else timers.delete(timer)
          // In a turn of its own, as by Node.js, and with nothing of the test in its stack.
          setImmediate(timer.run, ...timer.args)
          await turn()
        }
        await turn()
      }
    }
  }
}

/** A timer of stopped time, which keeps no process alive. */
class StoppedTimer {
  dueAt = 0
  readonly run: (...args: unknown[]) => void
  readonly args: unknown[]
  readonly repeats: boolean
  readonly #ms: number
  readonly #now: () => number

  constructor (run: (...args: unknown[]) => void, args: unknown[], ms: number, repeats: boolean, now: () => number) {
    this.run = run
    this.args = args
    this.repeats = repeats
    this.#ms = Math.max(1, ms)
    this.#now = now
    this.refresh()
  }

  refresh (): this {
    this.dueAt = this.#now() + this.#ms
    return this
  }

  ref (): this {
    return this
  }

  unref (): this {
    return this
  }

  hasRef (): boolean {
    return false
  }
}
