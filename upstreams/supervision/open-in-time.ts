import type { Semaphore } from '../../lib/semaphore.js'
import { onAbort, unlessAborted } from '../../lib/abort.js'
import { withTimeout } from '../../lib/time.js'

interface Closable { close (): Promise<void> }

/** How long a start keeps others waiting, in milliseconds: one that takes longer goes on beside them. */
const MAX_HOLD = 10_000

/**
 * Opens a connection. After `ms` milliseconds, or when the signal aborts, the attempt is ended, and a connection that
 * it still gives is closed.
 */
export async function openInTime<C extends Closable> (
  connect: (signal: AbortSignal) => Promise<C>,
  ms: number,
  signal: AbortSignal
): Promise<C> {
  signal.throwIfAborted()
  const attempt = new AbortController()
  const timer = setTimeout(() => attempt.abort(new Error(`it was not ready within ${ms / 1_000} s`)), ms).unref()
  const forget = onAbort(signal, () => attempt.abort(signal.reason))
  try {
    return await unlessAborted(closeIfLate(connect(attempt.signal), attempt.signal), attempt.signal)
  } finally {
    clearTimeout(timer)
    forget()
  }
}

/** Runs `work` when fewer others run than the semaphore allows, or at once when `hurry` aborts. */
export async function runLimited<T> (running: Semaphore, hurry: AbortSignal, work: () => Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const begin = async () => { await work().then(resolve, reject) }
    running.run(hurry, async () => { await withTimeout(begin(), MAX_HOLD, () => {}) }).catch(begin)
  })
}

async function closeIfLate<C extends Closable> (opening: Promise<C>, signal: AbortSignal): Promise<C> {
  const connection = await opening
  if (signal.aborted) await connection.close()
  return connection
}
