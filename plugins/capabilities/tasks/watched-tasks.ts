import type { Call } from '../../../protocol/dispatch/call.js'
import { mayKnow, requireTasks, taskSeenBy } from './task-access.js'
import type { ServedTasks } from './served-tasks.js'

/** Watches those of the tasks that the caller may know, at whichever node they change. */
export async function watchTasks (served: ServedTasks, wanted: readonly string[], call: Call) {
  requireTasks(call)
  const { tasks } = served
  const ids: string[] = []
  for (const id of new Set(wanted)) {
    const task = await tasks.get(id)
    if (task === undefined || !mayKnow(call, task)) continue
    ids.push(id)
    await served.find(id, call)
  }
  const sent = new Map<string, string>()
  let stop = (): void => {}
  // One after the other, so that no older state follows a newer one.
  let looking = Promise.resolve()

  const look = async (id: string, send: (task: object) => void): Promise<void> => {
    // A task of a node that has ended goes on here, where its client hears of it only.
    const task = await served.find(id, call).catch(() => undefined)
    if (task === undefined || call.response.isClosed) return
    const seen = await taskSeenBy(call, task, tasks)
    const text = JSON.stringify([task.status, task.updatedAt, task.statusMessage, task.questions?.length])
    if (sent.get(id) === text) return
    sent.set(id, text)
    send(seen)
  }

  return {
    ids,
    begin: (send: (task: object) => void) => {
      const queue = (id: string): void => { looking = looking.then(async () => await look(id, send)).catch(() => {}) }
      stop = tasks.onChange(id => {
        if (id === undefined) ids.forEach(queue)
        else if (ids.includes(id)) queue(id)
      })
      ids.forEach(queue)
    },
    stop: () => stop()
  }
}
