import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '../../lib/abort.js'
import { revisionNamed } from '../../protocol/revisions/table.js'
import type { Dial } from '../../transports/client/link.js'
import { agreeWithoutHandshake, initialize, isFailure, probe, type Agreement, type Self } from './agreement.js'
import type { Era, EraMemory } from './era-memory.js'
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
  if (version !== undefined) {
    const way = revisionNamed(version)?.stateless === true ? 'no handshake' : 'handshake'
    return requireOpen(await new Negotiation(dial, options, events, signal, undefined).open(way))
  }
  const era = await eras.recall()
  const negotiation = new Negotiation(dial, options, events, signal, era)
  const known = eras.isDue(era) ? undefined : era
  const first = await negotiation.open(known?.modern === false ? 'handshake' : 'probe')
  if (first === 'begun') {
    eras.remember(true)
    return requireOpen(await negotiation.open('no handshake'))
  }
  if (first !== 'exited') return first
  const second = requireOpen(await negotiation.open('handshake'))
  eras.remember(false, true)
  return second
}

/** The links that are opened one after the other until a server and we agree; `era` is what is remembered of it. */
class Negotiation {
  readonly #dial: Dial
  readonly #options: NegotiationOptions
  readonly #events: PeerEvents
  readonly #signal: AbortSignal
  readonly #era: Era | undefined
  readonly #self: Self

  constructor (
    dial: Dial,
    options: NegotiationOptions,
    events: PeerEvents,
    signal: AbortSignal,
    era: Era | undefined
  ) {
    this.#dial = dial
    this.#options = options
    this.#events = events
    this.#signal = signal
    this.#era = era
    this.#self = { ...options.self, version: options.version }
  }

  /**
   * `exited` when the server exited after it was asked for its era, `begun` when it needs no handshake, but has begun a
   * session.
   */
  async open (way: Way): Promise<Negotiated | 'exited' | 'begun'> {
    const signal = this.#signal
    const peer = await UpstreamPeer.open(this.#self.alias, this.#dial, signal, this.#events)
    try {
      const agreement = await unlessAborted(this.#agree(peer, way), signal)
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

  #agree (peer: UpstreamPeer, way: Way): Promise<Agreement | undefined> {
    if (way === 'handshake') return initialize(peer, this.#self)
    return way === 'probe' ? this.#probe(peer) : agreeWithoutHandshake(peer, this.#self)
  }

  async #probe (peer: UpstreamPeer): Promise<Agreement | undefined> {
    const { eras, probeWait } = this.#options
    const silence = new AbortController()
    const late = (): void => {
      eras.remember(true)
      this.#events.expired(peer)
    }
    const isModern = this.#era?.modern === true
    const silent = waitForSilence(peer, this.#era, probeWait, silence.signal).catch(() => new Promise(() => {}))
    try {
      const agreement = await probe(peer, this.#self, silent, isModern, late)
      if (agreement !== undefined) eras.remember(agreement.revision.stateless)
      return agreement
    } catch (error) {
      // Another server may be there now.
      if (isModern && isFailure(error)) eras.discard()
      throw error
    } finally {
      silence.abort()
    }
  }
}

/** Settles when `initialize` is sent behind `server/discover`. */
async function waitForSilence (
  { alive }: UpstreamPeer,
  era: Era | undefined,
  probeWait: number,
  signal: AbortSignal
): Promise<void> {
  const options = { ref: false, signal }
  if (era !== undefined) return await delay(era.modern ? MODERN_WAIT : 0, undefined, options)
  let isAlive = alive === undefined
  const output = alive?.then(() => { isAlive = true })
  await delay(probeWait, undefined, options)
  if (isAlive) return
  await Promise.race([output, delay(STARTING.longest, undefined, options)])
  if (isAlive) await delay(STARTING.afterOutput, undefined, options)
}

function requireOpen (outcome: Negotiated | 'exited' | 'begun'): Negotiated {
  if (typeof outcome === 'string') throw new Error('the server closed the connection during the handshake')
  return outcome
}
