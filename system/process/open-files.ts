import { readFileSync } from 'node:fs'

/** What the process needs for other things than connections: files, pipes of programs, a database, requests of its own. */
const OTHERS = 100

/** How many files and connections this process may have open: the soft limit, which Node.js raises to the hard one when it starts. Undefined where it cannot be read. */
export function openFilesLimit (): number | undefined {
  try {
    return process.platform === 'linux' ? limitIn(readFileSync('/proc/self/limits', 'utf8')) : undefined
  } catch {
    return undefined
  }
}

/** The limit in the text of /proc/self/limits. */
export function limitIn (limits: string): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Number(soft)
}

/** How many of so many open files may be connections. */
export function connectionsAmong (openFiles: number): number {
  return Math.max(openFiles - OTHERS, Math.floor(openFiles / 4))
}
