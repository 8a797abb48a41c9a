/** Settles as the promise does, or rejects with the signal's reason as soon as it aborts. */
export async function unlessAborted<T> (promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return await promise
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => { abort = () => reject(signal.reason) })
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    // The signal first: of two promises that are settled already, race takes the first.
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
