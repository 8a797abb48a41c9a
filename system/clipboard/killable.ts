import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { unlessAborted } from '../../lib/abort.js'

interface Job { signal: AbortSignal, children: Set<ChildProcess> }

const jobs = new AsyncLocalStorage<Job>()
let running = 0

subscribe('child_process', message => {
  const job = jobs.getStore()
  if (job === undefined) return
  const { process: child } = message as { process: ChildProcess }
  job.children.add(child)
  // The library may start another process when one has died.
  if (job.signal.aborted) queueMicrotask(() => child.kill('SIGKILL'))
})

/**
 * Runs work that starts processes and takes no signal: when the signal aborts, the processes are killed and its reason
 * is thrown.
 */
export async function killable<T> (work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const job: Job = { signal, children: new Set() }
  const kill = () => { for (const child of job.children) child.kill('SIGKILL') }
  signal.addEventListener('abort', kill)
  try {
    return await unlessAborted(runTracked(job, work), signal)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

// Before Node.js 24, every promise of the process costs more while an AsyncLocalStorage is enabled.
async function runTracked<T> (job: Job, work: () => Promise<T>): Promise<T> {
  running++
  try {
    return await jobs.run(job, work)
  } finally {
    if (--running === 0) jobs.disable()
  }
}
