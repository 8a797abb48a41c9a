import { performance } from 'node:perf_hooks'

/** How long a gateway under test may work on a call; it answers by itself when this is over. */
export const CALL_TIMEOUT = 60
export const CALL_TIMEOUT_MAX = 120
/** What takes longer than this is a hang. */
export const HANG = 1_000

/**
 * How long anything is waited for: among many conversations one may have to wait for its turn, alone it does not. And
 * how long a finding is made smaller.
 */
export const waitLimits = { ms: 5_000, alone: CALL_TIMEOUT_MAX + HANG, small: 20_000 }

const TICK = 50

/**
 * Milliseconds in which this process worked or had nothing to do: on a busy machine, those in which others worked do
 * not count.
 */
export function fairTime (): number {
  const { user, system } = process.cpuUsage()
  return performance.eventLoopUtilization().idle + (user + system) / 1_000
}

/** Waits for a condition that others bring about, and gives whether it came. */
export class Wait {
  readonly #holds: () => boolean
  readonly promise: Promise<boolean>
  #settle: (came: boolean) => void = () => {}
  #timer: NodeJS.Timeout | undefined
  #end: number | undefined

  constructor (holds: () => boolean, ms = waitLimits.ms) {
    this.#holds = holds
    this.promise = new Promise(resolve => { this.#settle = resolve })
    if (holds()) this.#settle(true)
    else this.#tick(ms)
  }

  /** Something has happened. */
  look (): void {
    if (!this.#holds()) return
    clearTimeout(this.#timer)
    this.#settle(true)
  }

  #tick (left: number): void {
    this.#timer = setTimeout(() => {
      // The clock costs more than most waits last.
      this.#end ??= fairTime() + left - TICK
      const rest = this.#end - fairTime()
      if (this.#holds()) this.#settle(true)
      else if (rest <= 0) this.#settle(false)
      else this.#tick(rest)
    }, Math.min(TICK, left))
  }
}

/** The promise's value, or undefined when it does not settle in such time. */
export async function inTime<T> (promise: Promise<T>, ms?: number): Promise<T | undefined> {
  let value: { is: T } | undefined
  const wait = new Wait(() => value !== undefined, ms)
  promise.then(is => { value = { is }; wait.look() }, () => {})
  await wait.promise
  return value?.is
}
