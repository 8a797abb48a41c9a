import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** How long a plugin may take before the log says what is waited for, in milliseconds. */
const PATIENT = 5_000

/** Registers a Fastify plugin of a file. While it is waited for, the log says so: most often `done` was forgotten. */
export async function registerPlugin (app: FastifyInstance, plugin: FastifyPluginAsync, file: string): Promise<void> {
  const timer = noteIfSlow(app.log, file)
  try {
    await app.register(plugin)
  } finally {
    clearTimeout(timer)
  }
}

/** Says once in the log what is waited for, unless the timer is cleared before. */
export function noteIfSlow (log: FastifyInstance['log'], file: string): NodeJS.Timeout {
  return setTimeout(() => log.warn(`plugin ${file}: still waiting for it; its function has to call done(), or to be async and end`), PATIENT).unref()
}
