import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '../../lib/abort.js'
import { revisionNamed } from '../../protocol/revisions/table.js'
import type { Dial } from '../../transports/client/link.js'
import { agreeWithoutHandshake, initialize, isFailure, probe, type Agreement, type Self } from './agreement.js'
import type { EraMemory } from './era-memory.js'
import { UpstreamPeer, type PeerEvents } from './upstream-peer.js'

/**
 * How long an answer is waited for where the server is known to answer `server/discover`, in milliseconds: `initialize`
 * would make it stateful.
 */
const MODERN_WAIT = 30_000
/**
 * How long a program that has written nothing at all counts as starting, in milliseconds, and how long it may take to
 * answer after its first output.
 */
const STARTING = { longest: 10_000, afterOutput: 1_000 }

export interface Negotiated extends Agreement { readonly peer: UpstreamPeer }

export interface NegotiationOptions {
  readonly self: Self
  readonly eras: EraMemory
  /** How long `server/discover` is waited for before `initialize` is sent behind it, in milliseconds. */
  readonly probeWait: number
  /** The version that the entry of the server chooses; the server is asked for nothing else then. */
  readonly version?: string | undefined
}

type Way = 'probe' | 'handshake' | 'no handshake'

/**
 * Opens a link and agrees on a revision with the server, by what is remembered of it. A server that exits when it is
 * asked is started again without, and one that needs no handshake but said so after it had got one is started again,
 * too: no server is spoken to in an older revision for its speed.
 */
export async function negotiate (
  dial: Dial,
  options: NegotiationOptions,
  events: PeerEvents,
  signal: AbortSignal
): Promise<Negotiated> {
  const { eras, version } = options
  const self = { ...options.self, version }
  const era = version === undefined ? await eras.recall() : undefined
  if (version !== undefined) {
    return opened(await open(revisionNamed(version)?.stateless === true ? 'no handshake' : 'handshake'))
  }
  const known = eras.isDue(era) ? undefined : era
  const first = await open(known?.modern === false ? 'handshake' : 'probe')
  if (first === 'begun') {
    eras.remember(true)
    return opened(await open('no handshake'))
  }
  if (first !== 'exited') return first
  const second = opened(await open('handshake'))
  eras.remember(false, true)
  return second

  /**
   * `exited` when the server exited after it was asked for its era, `begun` when it needs no handshake, but has begun a
   * session.
   */
  async function open (way: Way): Promise<Negotiated | 'exited' | 'begun'> {
    const peer = await UpstreamPeer.open(self.alias, dial, signal, events)
    try {
      const agreement = await unlessAborted(
        way === 'handshake' ? initialize(peer, self) : way === 'probe' ? ask(peer) : agreeWithoutHandshake(peer, self),
        signal
      )
      if (agreement !== undefined) return { peer, ...agreement }
    } catch (error) {
      const { why } = peer
      await peer.close()
      if (why === undefined || signal.aborted) throw error
      if (way !== 'probe' || peer.transport === 'http') throw why
      return 'exited'
    }
    await peer.close()
    return 'begun'
  }

  async function ask (peer: UpstreamPeer): Promise<Agreement | undefined> {
    const silence = new AbortController()
    const late = (): void => {
      eras.remember(true)
      events.expired(peer)
    }
    const isModern = era?.modern === true
    const agreement = await probe(
      peer,
      self,
      silent(peer, silence.signal).catch(async () => await new Promise(() => {})),
      isModern,
      late
    )
      .catch((error: unknown) => {
        // Another server may be there now.
        if (isModern && isFailure(error)) eras.discard()
        throw error
      })
      .finally(() => silence.abort())
    if (agreement !== undefined) eras.remember(agreement.revision.stateless)
    return agreement
  }

  /** Settles when `initialize` is sent behind `server/discover`. */
  async function silent (peer: UpstreamPeer, over: AbortSignal): Promise<void> {
    if (era !== undefined) return await delay(era.modern ? MODERN_WAIT : 0, undefined, { ref: false, signal: over })
    let isAlive = peer.alive === undefined
    const alive = peer.alive?.then(() => { isAlive = true })
    await delay(options.probeWait, undefined, { ref: false, signal: over })
    if (isAlive) return
    await Promise.race([alive, delay(STARTING.longest, undefined, { ref: false, signal: over })])
    if (isAlive) await delay(STARTING.afterOutput, undefined, { ref: false, signal: over })
  }
}

function opened (outcome: Negotiated | 'exited' | 'begun'): Negotiated {
  if (typeof outcome === 'string') throw new Error('the server closed the connection during the handshake')
  return outcome
}
