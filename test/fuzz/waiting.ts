/** How long a gateway under test may work on a call; it answers by itself when this is over. */
export const CALL_TIMEOUT = 60
export const CALL_TIMEOUT_MAX = 120
/** Whoever is not answered by then is not answered at all. */
export const PATIENCE = CALL_TIMEOUT_MAX + 1_000

const TICK = 50

/** Waits for something that others bring about, and tells whether it came. Only time in which this process could run counts: a busy machine is no hang. */
export class Wait {
  readonly #holds: () => boolean
  readonly promise: Promise<boolean>
  #settle: (came: boolean) => void = () => {}
  #timer: NodeJS.Timeout | undefined

  constructor (holds: () => boolean, ms = PATIENCE) {
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
      if (this.#holds()) this.#settle(true)
      else if (left <= TICK) this.#settle(false)
      else this.#tick(left - TICK)
    }, Math.min(TICK, left))
  }
}

/** The promise's value, or undefined when it does not settle in such time. */
export async function inTime<T> (promise: Promise<T>, ms = PATIENCE): Promise<T | undefined> {
  let value: { is: T } | undefined
  const wait = new Wait(() => value !== undefined, ms)
  promise.then(is => { value = { is }; wait.look() }, () => {})
  await wait.promise
  return value?.is
}
