import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Server, ServerProcess } from '../servers/process.js'
import { memory } from './process.js'

const HOOK = fileURLToPath(new URL('../servers/collect-garbage.js', import.meta.url))
const SETTLE = 600

/** Makes a server one that can be told to collect its garbage. */
export function collectable (server: Server): Server {
  return { ...server, args: place => ['--import', HOOK, ...server.args(place)] }
}

/**
 * Gives a server a young generation that does not grow: how large V8 makes it depends on what was done, not on what is
 * kept.
 */
export function withFixedYoungGeneration (server: Server): Server {
  return { ...server, args: place => ['--min-semi-space-size=1', '--max-semi-space-size=1', ...server.args(place)] }
}

/** Measures the memory that a server keeps once its garbage is collected, in KiB. */
export async function measureKept (server: ServerProcess): Promise<number> {
  await collectGarbage(server)
  return memory(server.pid)
}

export async function collectGarbage ({ child }: ServerProcess): Promise<void> {
  for (let time = 0; time < 2; time++) {
    child.kill('SIGWINCH')
    await sleep(SETTLE)
  }
}
