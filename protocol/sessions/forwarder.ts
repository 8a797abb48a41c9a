import { setTimeout as sleep } from 'node:timers/promises'
import { now } from '../../lib/time.js'
import { DELIVERY_TIMEOUT, type Inquiries } from '../nodes/inquiries.js'
import type { PassedMessage } from '../nodes/message.js'
import type { Nodes } from '../nodes/nodes.js'
import { cancelCall } from '../peer/cancel-call.js'
import type { Peer } from '../peer/peer.js'
import { errors } from '../wire/errors.js'
import { encodeNotification, isId, type Id, type Incoming, type Notification, type Response } from '../wire/jsonrpc.js'
import type { Session } from './session.js'

const CANCELLED = 'notifications/cancelled'
/** In milliseconds: how often an answer is sent again that has not arrived. Its client waits for that, and no call does. */
const PASS_EVERY = 50

export interface ForwarderPorts {
  nodes: Nodes
  inquiries: Inquiries
  find: (id: string) => Session | undefined
  decode: (text: string) => Incoming
  onTrouble: (error: unknown) => void
}

/**
 * Passes on what a client sent about a request that another node runs: an answer to the node that its id names, a cancellation to all. What other
 * nodes pass on counts only for a session of the same caller.
 */
export class Forwarder {
  readonly #ports: ForwarderPorts

  constructor (ports: ForwarderPorts) {
    this.#ports = ports
  }

  /** Begins to take messages of other nodes; returns a function that ends it. */
  start (): () => void {
    const { nodes, inquiries } = this.#ports
    inquiries.on('passed', async passed => this.#receive(passed))
    return nodes.onMessage(message => { if (message.kind === 'passed') this.#receive(message) })
  }

  /** For an answer a promise, which settles when the node that asked has it or is gone, and rejects when that is not known in time. */
  forward ({ id, peer: { principal } }: Session, message: Response | Notification): Promise<void> | undefined {
    const { nodes, onTrouble } = this.#ports
    const passed: PassedMessage = { kind: 'passed', session: id, principal, text: encode(message) }
    const node = message.kind === 'response' ? nodeOf(message.id) : undefined
    if (message.kind === 'notification') nodes.broadcast(passed).catch(onTrouble)
    else if (node !== undefined && node !== nodes.self) return this.#pass(node, passed)
  }

  // A node that has lost its connection for a moment does not hear the first time; one that hears twice has settled the request already.
  async #pass (node: string, passed: PassedMessage): Promise<void> {
    let why = 'it does not reply'
    for (const until = now() + DELIVERY_TIMEOUT; now() < until; await sleep(PASS_EVERY, undefined, { ref: false })) {
      try {
        if (await this.#ports.inquiries.ask(node, passed) !== undefined || !await this.#ports.nodes.isAlive(node)) return
      } catch (error) {
        why = (error as Error).message
      }
    }
    throw errors.answerNotPassedOn(why)
  }

  /** False if there is no such session of that caller. */
  #receive ({ session: id, principal, text }: PassedMessage): boolean {
    const peer = this.#ports.find(id)?.peer
    if (peer === undefined || peer.principal !== principal) return false
    const message = this.#ports.decode(text)
    if (message.kind === 'response') peer.settle(message)
    else if (message.kind === 'notification' && message.method === CANCELLED) cancel(peer, message.params)
    return true
  }
}

function cancel (peer: Peer, { requestId, reason }: Record<string, unknown>): void {
  if (isId(requestId)) cancelCall(peer, requestId, typeof reason === 'string' ? reason : undefined)
}

/** The node that waits for the answer to a request of this id. */
const nodeOf = (id: Id | undefined): string | undefined => typeof id === 'string' ? /^([0-9a-f]{12})-\d{1,16}$/.exec(id)?.[1] : undefined

function encode (message: Response | Notification): string {
  if (message.kind === 'notification') return encodeNotification(message.method, message.params)
  const { kind, ...response } = message
  return JSON.stringify({ jsonrpc: '2.0', ...response })
}
