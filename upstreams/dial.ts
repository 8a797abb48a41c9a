import { upstreamLimits } from '../protocol/wire/limits.js'
import type { Credential } from '../transports/client/credential.js'
import type { Dial } from '../transports/client/link.js'
import type { ServerEntry } from './server-entry.js'
import type { ChildDialer, ChildOptions } from './supervision/child-dial.js'

export interface Dialer {
  readonly dial: Dial
  /**
   * Lines that the process which was started last wrote for people, with secrets that may be in them; empty where none
   * was started.
   */
  lastLines (count: number): readonly string[]
}

export interface DialOptions extends ChildOptions {
  readonly maxUpstreamSockets: number
  readonly heartbeat: number
  readonly maxPings: number
}

/**
 * How a configured server is dialled. Its transport is loaded when it is dialled for the first time. `onLine` gets what
 * its processes write for people; `credential` is the token of requests to a URL.
 */
export function dialerOf (
  { address }: ServerEntry,
  options: DialOptions,
  onLine?: (line: string) => void,
  credential?: Credential
): Dialer {
  if (address.kind === 'openapi') throw new Error('an API is not dialled')
  if (address.kind !== 'stdio') return { dial: dialAddress(address, options, credential), lastLines: () => [] }
  let child: ChildDialer | undefined
  return {
    dial: async (events, signal) => {
      const { childDialer } = await import('./supervision/child-dial.js')
      child ??= childDialer(address, options, onLine)
      return await child.dial(events, signal)
    },
    lastLines: count => child?.lastLines(count) ?? []
  }
}

function dialAddress (
  address: Exclude<ServerEntry['address'], { kind: 'stdio' | 'openapi' }>,
  options: DialOptions,
  credential: Credential | undefined
): Dial {
  return async (events, signal) => {
    const {
      maxUpstreamMessage: maxMessage,
      maxUpstreamValues,
      maxUpstreamListValues,
      replies,
      maxUpstreamSockets: connections,
      maxUpstreamQueue: maxQueue,
      maxUpstreamUnasked: maxUnasked,
      heartbeat,
      maxPings
    } = options
    const { dialUrl } = await import('../transports/client/dial-url.js')
    return await dialUrl(address.kind, address, {
      maxMessage,
      limits: upstreamLimits(maxUpstreamValues),
      listLimits: upstreamLimits(maxUpstreamListValues, 'maxUpstreamListValues'),
      replies,
      maxUnasked,
      connections,
      maxQueue,
      heartbeat,
      maxPings,
      credential
    })(events, signal)
  }
}
