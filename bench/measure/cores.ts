import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isMeasurable } from './process.js'

const [serverCore, clientCore] = twoCores()

/** The command that runs a program, of Node.js unless another one is named, where servers run. */
export function pinToCores (args: string[], program = process.execPath): [command: string, args: string[]] {
  return serverCore === undefined ? [program, args] : ['taskset', ['-c', serverCore, program, ...args]]
}

/** Moves this process, the client, to a core where no server runs; says where both are. */
export function stepAside (): string {
  if (clientCore === undefined) return 'servers and client share the cores'
  moveToOtherCore(process.pid)
  return `servers on core ${serverCore}, client on core ${clientCore}`
}

/** Lets a process run on the client's core alone, where there are two. */
export function moveToOtherCore (pid: number): void {
  if (clientCore !== undefined) spawnSync('taskset', ['-a', '-p', '-c', clientCore, String(pid)])
}

function twoCores (): string[] {
  if (!isMeasurable) return []
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? ''
  const cores = list.split(',').flatMap(range => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  })
  const [first, second] = cores
  return first === undefined || second === undefined || spawnSync('taskset', ['--version']).status !== 0
    ? []
    : [first, second]
}
