import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** How long a plugin may take before the log says what is waited for, in milliseconds. */
const NOTE_AFTER = 5_000

/** A file whose import or function does not end. */
export class LoadTimeout extends Error {
  override readonly name = 'LoadTimeout'
}

export interface Wait {
  log: FastifyInstance['log']
  file: string
  /** When the wait ends with a LoadTimeout, as `performance.now()` counts. */
  deadline: number
}

let present: string | undefined

/** The file whose code runs now while plugins are loaded, if any. */
export const fileInLoading = (): string | undefined => present

/**
 * Before Fastify's own limit for plugins ends the start, with an error that names no file. `begin` is when the plugin
 * that loads others began.
 */
export function loadDeadline (
  { initialConfig }: Pick<FastifyInstance, 'initialConfig'>,
  begin = performance.now()
): number {
  const { pluginTimeout = 0 } = initialConfig
  return begin + (pluginTimeout === 0 ? Infinity : 0.9 * pluginTimeout)
}

/** Imports a file. While it is waited for, the log says so. */
export async function importFile<T> (wait: Wait, load: () => Promise<T>): Promise<T> {
  return await waitFor(wait, load, 'a top-level await in it, or in a file that it imports, has to settle')
}

/** Registers a Fastify plugin of a file. While it is waited for, the log says so: most often `done` was forgotten. */
export async function registerPlugin (app: FastifyInstance, plugin: FastifyPluginAsync, wait: Wait): Promise<void> {
  await waitFor(wait, async () => { await app.register(plugin) }, END)
}

/** Says once in the log what is waited for, unless the timer is cleared before. */
export function noteIfSlow (log: FastifyInstance['log'], file: string, advice = END): NodeJS.Timeout {
  return setTimeout(() => log.warn(`plugin ${file}: still waiting for it; ${advice}`), NOTE_AFTER).unref()
}

const END = 'its function has to call done(), or to be async and end'

async function waitFor<T> ({ log, file, deadline }: Wait, act: () => Promise<T>, advice: string): Promise<T> {
  const note = noteIfSlow(log, file, advice)
  const begin = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    if (deadline === Infinity) return
    timer = setTimeout(
      () =>
        reject(new LoadTimeout(`it did not end within ${Math.ceil((performance.now() - begin) / 1000)} s; ${advice}`)),
      Math.max(1, deadline - begin)
    )
  })
  present = file
  try {
    return await Promise.race([act(), late])
  } finally {
    present = undefined
    clearTimeout(note)
    clearTimeout(timer)
  }
}
