import { setTimeout as delay } from 'node:timers/promises'
import { onAbort } from '../../../lib/abort.js'
import { now } from '../../../lib/time.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { isFinal, type TaskRecord } from '../../../protocol/tasks/task-record.js'

/** How often the state is read again in any case, in milliseconds: the end of a node changes no record by itself. */
const INTERVAL = 2_000

/** A task once it has ended, or as it is after `ms` milliseconds; undefined where there is none any more. */
export async function taskWhenEnded (
  tasks: StoredTasks,
  id: string,
  ms: number,
  signal: AbortSignal
): Promise<TaskRecord | undefined> {
  const until = now() + ms
  let wake = (): void => {}
  const offs = [
    tasks.onChange(changed => { if (changed === undefined || changed === id) wake() }),
    onAbort(signal, () => wake())
  ]
  try {
    for (;;) {
      const changed = new Promise<void>(resolve => { wake = resolve })
      const task = await tasks.get(id)
      const left = until - now()
      if (task === undefined || isFinal(task) || left <= 0) return task
      signal.throwIfAborted()
      const timer = new AbortController()
      const pause = delay(Math.min(left, INTERVAL), undefined, { ref: false, signal: timer.signal }).catch(() => {})
      await Promise.race([changed, pause])
      timer.abort()
    }
  } finally {
    for (const off of offs) off()
  }
}
