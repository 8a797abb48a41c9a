import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isMeasurable } from './process.js'

const [serverCore, clientCore] = twoCores()

/** The command that runs a program of Node.js where servers run. */
export function pinned (args: string[]): [command: string, args: string[]] {
  const own = [process.execPath, ...args] as [string, ...string[]]
  return serverCore === undefined ? [own[0], own.slice(1)] : ['taskset', ['-c', serverCore, ...own]]
}

/** Moves this process, the client, to a core where no server runs; says where both are. */
export function stepAside (): string {
  if (clientCore === undefined) return 'servers and client share the cores'
  spawnSync('taskset', ['-a', '-p', '-c', clientCore, String(process.pid)])
  return `servers on core ${serverCore}, client on core ${clientCore}`
}

function twoCores (): string[] {
  if (!isMeasurable) return []
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? ''
  const cores = list.split(',').flatMap(range => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  })
  const [first, second] = cores
  return first === undefined || second === undefined || spawnSync('taskset', ['--version']).status !== 0 ? [] : [first, second]
}
