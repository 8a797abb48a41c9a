import { existsSync, readFileSync, readdirSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** True where the system tells what a process uses. */
export const isMeasurable = existsSync('/proc/self/schedstat')

/** CPU time that a process, its threads and its children have used so far, in milliseconds. */
export function cpuTime (pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + ownTime(member) + timeOfTheGone(member), 0)
}

/** CPU time of a process without its children: what a relay uses itself. */
export const ownCpuTime = (pid: number): number => ownTime(pid)

/** Memory in use by a process and its children, in KiB. */
export function memory (pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + ownMemory(member), 0)
}

/** Memory of a process without its children. */
export function ownMemory (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
}

function familyOf (pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(text => text.trim() !== '').map(Number)
  return [pid, ...children.flatMap(familyOf)]
}

/** Of all threads, in nanoseconds where the kernel counts them: a thread that waits for a core uses nothing. */
function ownTime (pid: number): number {
  return threadsOf(pid).reduce(
    (sum, thread) => sum + Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6,
    0
  )
}

/** Of children that have ended. */
function timeOfTheGone (pid: number): number {
  const fields = read(`/proc/${pid}/stat`).replace(/^.*\) /, '').split(' ')
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 1000 / TICKS_PER_SECOND
}

function threadsOf (pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

// A process may end while it is being looked at.
function read (file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
