import { onAbort } from '../on-abort.js'

/** Settles as the promise does, or rejects with the signal's reason as soon as it aborts. What the promise does afterwards is ignored. */
export async function unlessAborted<T> (promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return await promise
  let forget = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else forget = onAbort(signal, () => reject(signal.reason))
  })
  try {
    // The signal first: of two promises that are settled already, race takes the first.
    return await Promise.race([aborted, promise])
  } finally {
    forget()
  }
}
