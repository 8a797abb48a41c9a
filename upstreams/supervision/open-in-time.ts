import type { Semaphore } from '../../lib/semaphore.js'
import { onAbort } from '../../lib/on-abort.js'
import { withTimeout } from '../../lib/time/with-timeout.js'

interface Closable { close (): Promise<void> }

/** How long a start keeps others waiting, in milliseconds: one that takes longer goes on beside them. */
const TURN = 10_000

/** Opens a connection. After `ms` milliseconds, or when the signal aborts, the attempt is ended, and a connection that it still gives is closed. */
export async function openInTime<C extends Closable> (connect: (signal: AbortSignal) => Promise<C>, ms: number, signal: AbortSignal): Promise<C> {
  signal.throwIfAborted()
  const attempt = new AbortController()
  const timer = setTimeout(() => attempt.abort(new Error(`it was not ready within ${ms / 1_000} s`)), ms).unref()
  const forget = onAbort(signal, () => attempt.abort(signal.reason))
  try {
    return await unlessAborted(closedIfLate(connect(attempt.signal), attempt.signal), attempt.signal)
  } finally {
    clearTimeout(timer)
    forget()
  }
}

/** Runs `work` when its turn has come, or at once when `hurry` aborts. */
export async function inTurn<T> (turns: Semaphore, hurry: AbortSignal, work: () => Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const begin = async () => { await work().then(resolve, reject) }
    turns.run(hurry, async () => { await withTimeout(begin(), TURN, () => {}) }).catch(begin)
  })
}

/** Settles like the promise, or rejects with the reason of the signal when that aborts before. */
export async function unlessAborted<T> (promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  signal.throwIfAborted()
  let forget = () => {}
  try {
    return await Promise.race([promise, new Promise<never>((_resolve, reject) => { forget = onAbort(signal, () => reject(signal.reason)) })])
  } finally {
    forget()
  }
}

async function closedIfLate<C extends Closable> (opening: Promise<C>, signal: AbortSignal): Promise<C> {
  const connection = await opening
  if (signal.aborted) await connection.close()
  return connection
}
