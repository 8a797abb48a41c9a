import { LIMITS } from '../../protocol/wire/limits.js'
import { startServer } from '../../system/programs/start-server.js'
import { childEnvironment } from '../../system/programs/child-environment.js'
import type { Dial } from '../../transports/client/link.js'
import { openStdioLink } from '../../transports/client/stdio.js'
import type { Address } from '../server-entry.js'

export type StdioAddress = Extract<Address, { kind: 'stdio' }>

/** Dials a server by starting its program. */
export function dialChild ({ command, args, env, cwd }: StdioAddress): Dial {
  return async (events, signal) => {
    signal.throwIfAborted()
    const child = await startServer({ command, args, env: { ...childEnvironment(), ...env }, cwd, stopStep: 2_000, onError: () => {} })
    signal.addEventListener('abort', () => { void child.stop() }, { once: true })
    return openStdioLink(child, events, { maxMessage: 64 * 1024 * 1024, maxQueue: 4 * 1024 * 1024, limits: LIMITS, onNoise: () => {} })
  }
}
