import { readdirSync, readFileSync } from 'node:fs'
import { signalGroup } from '../kill.js'

/** A process that descends from a program and has left its group. */
export interface Stray { readonly pid: number, readonly group: number, readonly startedAt: string }

/** How many processes are looked at. */
const MAX_PROCESSES = 1_000

/**
 * The descendants of a process that are not in its group, such as those that were started detached. Linux alone can say
 * it; elsewhere there are none.
 */
export function straysOf (pid: number): Stray[] {
  if (process.platform !== 'linux') return []
  const found = [pid]
  // Children that are appended are visited, too.
  for (const parent of found) found.push(...childrenOf(parent).slice(0, MAX_PROCESSES - found.length))
  return found.slice(1).flatMap(child => read(child) ?? []).filter(({ group }) => group !== pid)
}

/** True while it runs, and its process id was not given to another. */
export function isAlive ({ pid, startedAt }: Stray): boolean {
  const stat = read(pid)
  return stat?.startedAt === startedAt && !stat.isDead
}

/** Sends a signal to it, and to its group if it leads one. */
export function signalStray (stray: Stray, signal: NodeJS.Signals): void {
  if (!isAlive(stray)) return
  if (stray.group === stray.pid) signalGroup(stray.pid, signal)
  else {
    try {
      process.kill(stray.pid, signal)
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
}

function childrenOf (pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(thread =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter(text => text !== '')
        .map(Number)
    )
  } catch {
    // It has ended, or the kernel was built without this list.
    return []
  }
}

/** See proc(5): the name in brackets may have spaces and brackets. */
function read (pid: number): Stray & { isDead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {
      pid,
      group: Number(fields[2]),
      startedAt: fields[19] ?? '',
      isDead: fields[0] === 'Z' || fields[0] === 'X'
    }
  } catch {
    return undefined
  }
}
