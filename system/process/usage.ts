import { readdirSync, readFileSync } from 'node:fs'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { residentMemory } from './load.js'
import { openFilesLimit } from './open-files.js'

/** Reads what this process has used and uses: times in seconds, memory in bytes. What the system does not tell is undefined. */
export function readUsage () {
  const { user, system } = process.cpuUsage()
  const { total_heap_size: heapTotal, used_heap_size: heapUsed, external_memory: external } = getHeapStatistics()
  const status = unlessRefused(() => readFileSync('/proc/self/status', 'utf8')) ?? ''
  return {
    version: process.version,
    startedAt: Math.round(Date.now() / 1_000 - process.uptime()),
    cpu: { user: user / 1e6, system: system / 1e6 },
    memory: { resident: residentMemory(), virtual: bytesIn(status, 'VmSize'), data: bytesIn(status, 'VmData'), heapTotal, heapUsed, external },
    heapSpaces: getHeapSpaceStatistics().map(({ space_name: name, space_size: total, space_used_size: used, space_available_size: available }) => ({ name: name.replace(/_space$/, ''), total, used, available })),
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
