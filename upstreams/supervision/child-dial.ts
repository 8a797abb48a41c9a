import { upstreamLimits } from '../../protocol/wire/limits.js'
import { processSurroundings } from '../../system/environment.js'
import { childEnvironment } from '../../system/programs/server/child-environment.js'
import { ErrorOutput } from '../../system/programs/server/error-output.js'
import { findProgram } from '../../system/programs/server/find-program.js'
import { startServer } from '../../system/programs/server/start-server.js'
import type { Dial } from '../../transports/client/link.js'
import type { ReplyBudget } from '../../transports/client/reply-budget.js'
import { openStdioLink } from '../../transports/client/stdio.js'
import { VIA, viaFor } from '../config/nesting.js'
import { redactor } from '../secrets.js'
import type { Address, ServerEntry } from '../server-entry.js'

export type StdioAddress = Extract<Address, { kind: 'stdio' }>

/** The options about servers that are started. */
export interface ChildOptions {
  readonly maxUpstreamMessage: number
  readonly maxUpstreamValues: number
  readonly maxUpstreamListValues: number
  readonly maxUpstreamQueue: number
  readonly maxUpstreamUnasked: number
  readonly maxUpstreamErrorOutput: number
  readonly upstreamProxies: boolean
  /** Bounds the bytes of incomplete replies of all upstreams. */
  readonly replies: ReplyBudget
  /** How long each step of stopping a server may take now, in milliseconds. */
  readonly stopTimeout: () => number
}

export interface ChildDialer {
  readonly dial: Dial
  /** Lines that the process which was started last wrote for people. They may have secrets. */
  lastLines (count: number): string[]
}

/**
 * Dials a server by starting its program. `onLine` gets the lines that it writes for people; without it they are only
 * kept.
 */
export function childDialer (
  address: StdioAddress,
  options: ChildOptions,
  onLine?: (line: string) => void
): ChildDialer {
  let latest: ErrorOutput | undefined
  const createOutput = (): ErrorOutput => {
    latest = new ErrorOutput(options.maxUpstreamErrorOutput, onLine)
    return latest
  }
  return { dial: dialChild(address, options, createOutput), lastLines: count => latest?.lastLines(count) ?? [] }
}

function dialChild (address: StdioAddress, options: ChildOptions, createOutput: () => ErrorOutput): Dial {
  const {
    maxUpstreamMessage,
    maxUpstreamValues,
    maxUpstreamListValues,
    replies,
    maxUpstreamQueue,
    maxUpstreamUnasked,
    stopTimeout,
    upstreamProxies
  } = options
  const { command, args, env, cwd } = address
  return async (events, signal) => {
    signal.throwIfAborted()
    const output = createOutput()
    let wake = (): void => {}
    const alive = new Promise<void>(resolve => { wake = resolve })
    const child = await startServer({
      command,
      args,
      cwd,
      env: { ...childEnvironment(upstreamProxies), ...env, [VIA]: viaFor(address, processSurroundings().env) },
      stopStep: stopTimeout,
      onError: chunk => {
        wake()
        output.add(chunk)
      }
    })
    const link = openStdioLink(child, events, {
      maxMessage: maxUpstreamMessage,
      replies,
      maxQueue: maxUpstreamQueue,
      limits: upstreamLimits(maxUpstreamValues),
      listLimits: upstreamLimits(maxUpstreamListValues, 'maxUpstreamListValues'),
      maxUnasked: maxUpstreamUnasked,
      alive,
      onNoise: line => output.addLine(line)
    })
    if (signal.aborted) {
      await link.close()
      signal.throwIfAborted()
    }
    return link
  }
}

/** The upstream servers whose program cannot be started, by alias, and why. Nothing is started. */
export function missingPrograms (
  entries: readonly ServerEntry[],
  proxies: boolean
): Array<[alias: string, why: string]> {
  return entries.flatMap(entry => {
    const { alias, address, disabled } = entry
    if (disabled || address.kind !== 'stdio') return []
    try {
      findProgram({ ...address, env: { ...childEnvironment(proxies), ...address.env } })
      return []
    } catch (error) {
      return [[alias, redactor(entry)((error as Error).message)]]
    }
  })
}
