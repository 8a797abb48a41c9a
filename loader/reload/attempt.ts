import type { FastifyBaseLogger } from 'fastify'
import { noteIfSlow } from '../register-plugin.js'

/** How long a watched file may take to be loaded, with its function and its `onReady` hooks, in milliseconds. */
export const LOAD_LIMIT = 10_000

const ADVICE =
  'its top-level awaits and onReady hooks have to end, and its function has to call done(), or to be async and end'

/** Says that a file took too long. Another try would, too, until the file changes. */
export class TookTooLong extends Error {}

/**
 * Runs the work of loading a file anew. Rejects with the reason when the controller aborts, and makes it abort at the
 * deadline: work that never ends must not keep other files from being loaded.
 */
export async function attempt<T> (
  log: FastifyBaseLogger,
  file: string,
  controller: AbortController,
  work: () => Promise<T>
): Promise<T> {
  const { signal } = controller
  const note = noteIfSlow(log, file, ADVICE)
  const deadline = setTimeout(() => controller.abort(tookTooLong()), LOAD_LIMIT).unref()
  const abort = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(reasonOf(signal)), { once: true })
  })
  try {
    return await Promise.race([work(), abort])
  } finally {
    clearTimeout(note)
    clearTimeout(deadline)
  }
}

function tookTooLong (): Error {
  return new TookTooLong(`it did not end within ${LOAD_LIMIT / 1000} s; ${ADVICE}`)
}

const reasonOf = ({ reason }: AbortSignal): Error => reason as Error
