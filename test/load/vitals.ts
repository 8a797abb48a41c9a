import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** How a gateway is: what it holds for its clients, and what that costs. */
export interface Vitals {
  /** In bytes, after its garbage was collected. */
  rss: number
  heap: number
  peers: number
  /** Peers that are in memory, whether connected or not. */
  alive: number
  sessions: number
  /** Open file descriptors. */
  files: number
  /** What keeps its event loop busy, by kind. */
  handles: Record<string, number>
  /** How many calls of `load_later` have begun so far. */
  lateCalls: number
}

const TICKS_PER_SECOND = 100
/** Besides its sockets, a process needs some files for itself. */
const OWN_FILES = 200

/** Whether this machine reports what a process uses. */
export const isMeasurable = existsSync('/proc/self/stat')

export const MIB = 1024 * 1024

export function openFiles (pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Processor time used so far, in microseconds. */
export function cpuTime (pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 1_000_000 / TICKS_PER_SECOND
}

/** Memory in use, garbage included, in bytes. */
export function rssOf (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}

/** Throws when a process may not have that many sockets. */
export function needSockets (count: number): void {
  const allowed = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity)
  if (allowed >= count + OWN_FILES) return
  throw new Error(
    `${count} sockets need ${count + OWN_FILES} open files in each process, and ${allowed} are allowed here. ` +
      'Raise the hard limit (ulimit -Hn in the shell that starts this, nofile in /etc/security/limits.conf, LimitNOFILE of a service, --ulimit nofile of a container), ' +
      'or ask for fewer with --sockets'
  )
}
