import fp from 'fastify-plugin'
import type { StoredTasks } from '../../protocol/tasks/stored-tasks.js'
import type { TaskLimits } from '../../protocol/tasks/task-limits.js'

declare module './mcp.js' {
  interface Mcp {
    /** The tasks in the store, which are swept from their first use on. */
    storedTasks: () => Promise<StoredTasks>
  }
}

/** How often tasks of ended nodes, and those whose time is up, are looked for, in milliseconds. */
const SWEEP_EVERY = 5_000

/**
 * Keeps tasks in the store, and sweeps them from the first use on, or from the start if there are some already. The
 * code is loaded with the first use.
 */
export default fp(async (fastify, limits: TaskLimits) => {
  const { mcp, log } = fastify
  let opening: Promise<StoredTasks> | undefined
  let timer: NodeJS.Timeout | undefined
  let sweeping = Promise.resolve()

  const begin = async (): Promise<StoredTasks> => {
    const { StoredTasks } = await import('../../protocol/tasks/stored-tasks.js')
    const tasks = new StoredTasks(mcp.store, limits, task => mcp.dispatcher.observers.task.notify(task))
    let isSweeping = false
    const sweep = async (): Promise<void> => {
      if (isSweeping) return
      isSweeping = true
      await tasks.sweep().catch((err: unknown) => log.warn({ err }, 'tasks could not be swept; this is tried again'))
      isSweeping = false
    }
    sweeping = sweep()
    timer = setInterval(() => { sweeping = sweep() }, SWEEP_EVERY).unref()
    return tasks
  }
  const storedTasks = async (): Promise<StoredTasks> => await (opening ??= begin())
  mcp.provide('storedTasks', storedTasks)

  fastify.addHook('onReady', async () => {
    const [first] = await mcp.store.values.keys('tasks/due', { limit: 1 }).catch(() => [])
    if (first !== undefined) await storedTasks()
  })
  fastify.addHook('onClose', async () => {
    await opening
    clearInterval(timer)
    await sweeping
  })
}, { name: 'patchbay-stored-tasks', dependencies: ['patchbay-mcp'] })
