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
