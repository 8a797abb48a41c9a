import { unlessAborted } from '../../lib/time/unless-aborted.js'
import type { Dial } from '../../transports/client/link.js'
import { initialize, probe, type Agreement, type Self } from './agreement.js'
import type { EraMemory } from './era-memory.js'
import { UpstreamPeer, type PeerEvents } from './upstream-peer.js'

/** How much longer an answer is waited for over HTTP. */
const HTTP_FACTOR = 2
/** How long it is waited for where the server is known to answer `server/discover`, in milliseconds: `initialize` would make it stateful. */
const MODERN_WAIT = 30_000

export interface Negotiated extends Agreement { readonly peer: UpstreamPeer }

export interface NegotiationOptions {
  readonly self: Self
  readonly eras: EraMemory
  /** How long `server/discover` is waited for before `initialize` is sent behind it, in milliseconds. */
  readonly probeWait: number
}

/** Opens a link and agrees on a revision with the server, by what is remembered of it. A server that exits when it is asked is started again without. */
export async function negotiate (dial: Dial, options: NegotiationOptions, events: PeerEvents, signal: AbortSignal): Promise<Negotiated> {
  const { self, eras } = options
  const era = await eras.recall()
  const known = eras.isDue(era) ? undefined : era
  const first = await open(known?.modern === false)
  if (first !== undefined) return first
  const second = await open(true)
  if (second === undefined) throw new Error('the server closed the connection during the handshake')
  eras.remember(false, true)
  return second

  /** Undefined when the server exited after it was asked for its era. */
  async function open (legacy: boolean): Promise<Negotiated | undefined> {
    const peer = await UpstreamPeer.open(self.alias, dial, signal, events)
    try {
      return { peer, ...await unlessAborted(legacy ? initialize(peer, self) : ask(peer), signal) }
    } catch (error) {
      const { why } = peer
      await peer.close()
      if (why === undefined || signal.aborted) throw error
      if (legacy || peer.transport === 'http') throw why
      return undefined
    }
  }

  async function ask (peer: UpstreamPeer): Promise<Agreement> {
    return await probe(peer, self, waitFor(peer), modern => eras.remember(modern))
  }

  function waitFor (peer: UpstreamPeer): number {
    if (era !== undefined) return era.modern ? MODERN_WAIT : 0
    return options.probeWait * (peer.transport === 'http' ? HTTP_FACTOR : 1)
  }
}
