/** Settles like the promise, or after `ms` milliseconds with what `onTimeout` returns or throws. The timer keeps no process alive. */
export async function withTimeout<T, L> (promise: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => { timer = setTimeout(resolve, ms).unref() })
  try {
    return await Promise.race([promise, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
