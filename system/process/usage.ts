import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { residentMemory } from './load.js'

/**
 * Reads what this process has used and uses: times in seconds, memory in bytes. What the system does not tell is
 * undefined.
 */
export function readUsage () {
  const { user, system } = process.cpuUsage()
  const { total_heap_size: heapTotal, used_heap_size: heapUsed, external_memory: external } = getHeapStatistics()
  const status = unlessRefused(() => readFileSync('/proc/self/status', 'utf8')) ?? ''
  return {
    version: process.version,
    startedAt: Math.round(Date.now() / 1_000 - process.uptime()),
    cpu: { user: user / 1e6, system: system / 1e6 },
    memory: {
      resident: residentMemory(),
      virtual: bytesIn(status, 'VmSize'),
      data: bytesIn(status, 'VmData'),
      heapTotal,
      heapUsed,
      external
    },
    heapSpaces: getHeapSpaceStatistics().map(
      ({ space_name: name, space_size: total, space_used_size: used, space_available_size: available }) => ({
        name: name.replace(/_space$/, ''),
        total,
        used,
        available
      })
    ),
    // One of them is the one that reads.
    openFiles: unlessRefused(() => readdirSync('/proc/self/fd').length - 1),
    maxOpenFiles: openFilesLimit()
  }
}

/** Files of /proc are not there on every system, and cannot be opened when too many files are open. */
function unlessRefused<T> (read: () => T): T | undefined {
  try {
    return process.platform === 'linux' ? read() : undefined
  } catch {
    return undefined
  }
}

function bytesIn (status: string, name: string): number | undefined {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024
}

const MIB = 1024 * 1024
/**
 * The part of V8's heap limit that is for the young generation, which objects that stay cannot have. V8 does not tell
 * it: with Node.js 24 the limit is 192 MiB above `--max-old-space-size`, before that 48.
 */
const YOUNG =
  Number(process.versions.node.split('.')[0]) >= 24 ? { most: 192 * MIB, share: 0.5 } : { most: 96 * MIB, share: 0.3 }

/** How many bytes of heap Node.js may use for what stays before it gives up, cautiously. */
export function heapLimit (): number {
  const limit = getHeapStatistics().heap_size_limit
  return limit - Math.min(YOUNG.most, YOUNG.share * limit)
}

/** How many bytes of memory there are for this process. */
export function memoryLimit (): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity)
}

/** The version of Node.js and the memory of this process. */
export function runtime (): { node: string, memory: { rss: number, heapUsed: number } } {
  return {
    node: process.versions.node,
    memory: { rss: residentMemory() ?? 0, heapUsed: getHeapStatistics().used_heap_size }
  }
}

/**
 * Milliseconds on the machine's monotonic clock, which all its processes share. It cannot be set, and begins again with
 * the machine.
 */
export const machineTime = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** The time of processors that this process has used, in milliseconds. */
export function processorTime (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Descriptors for other things than connections: files, pipes of programs, a database, requests of its own. */
const OTHERS = 100

/**
 * How many files and connections this process may have open: the soft limit, which Node.js raises to the hard one when
 * it starts. Undefined where it cannot be read.
 */
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
