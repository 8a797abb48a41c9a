import type { FastifyBaseLogger } from 'fastify'

/** How long a file may take to be loaded anew, with its function and its `onReady` hooks, in milliseconds. */
const DEADLINE = 10_000

/** After how long the log says what is waited for, in milliseconds. */
const PATIENT = 3_000

/** Says that a file took too long. Another try would, too, until the file changes. */
export class TookTooLong extends Error {}

/**
 * Runs the work of loading a file anew. Rejects with the reason when the controller aborts, and makes it abort at the deadline: work that never ends must not
 * keep other files from being loaded.
 */
export async function attempt<T> (log: FastifyBaseLogger, file: string, controller: AbortController, work: () => Promise<T>): Promise<T> {
  const { signal } = controller
  const note = setTimeout(() => log.warn(`still waiting for plugin ${file}: a top-level await, its function or an onReady hook has not ended`), PATIENT).unref()
  const deadline = setTimeout(() => controller.abort(tookTooLong()), DEADLINE).unref()
  const abort = new Promise<never>((_resolve, reject) => { signal.addEventListener('abort', () => reject(reasonOf(signal)), { once: true }) })
  try {
    return await Promise.race([work(), abort])
  } finally {
    clearTimeout(note)
    clearTimeout(deadline)
  }
}

function tookTooLong (): Error {
  return new TookTooLong(`it did not end within ${DEADLINE / 1000} s; its top-level awaits and onReady hooks have to end, and its function has to call done(), or to be async and end`)
}

const reasonOf = ({ reason }: AbortSignal): Error => reason as Error
