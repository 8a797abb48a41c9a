import { setTimeout as sleep } from 'node:timers/promises'

/** Runs `work` with a signal that aborts when the time is up. Keeps the process awake meanwhile, as the timers of the server do not. */
export async function within<T> (ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`nothing came within ${ms} ms`)), ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until something has become true that nobody announces. */
export async function eventually (condition: () => boolean | Promise<boolean>, ms = 5_000): Promise<void> {
  await within(ms, async signal => { while (!await condition()) await sleep(5, undefined, { signal }) })
}
