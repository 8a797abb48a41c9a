import type { NodeMessage, PassedMessage } from '../nodes/message.js'
import type { Nodes } from '../nodes/nodes.js'
import { cancelCall } from '../peer/cancel-call.js'
import type { Peer } from '../peer/peer.js'
import { encodeNotification, isId, type Id, type Incoming, type Notification, type Response } from '../wire/jsonrpc.js'
import type { Session } from './session.js'

const CANCELLED = 'notifications/cancelled'

export interface ForwarderPorts {
  nodes: Nodes
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
    return this.#ports.nodes.onMessage(message => this.#receive(message))
  }

  forward ({ id, peer: { principal } }: Session, message: Response | Notification): void {
    const { nodes, onTrouble } = this.#ports
    const passed: PassedMessage = { kind: 'passed', session: id, principal, text: encode(message) }
    const node = message.kind === 'response' ? nodeOf(message.id) : undefined
    if (message.kind === 'notification') nodes.broadcast(passed).catch(onTrouble)
    else if (node !== undefined && node !== nodes.self) nodes.send(node, passed).catch(onTrouble)
  }

  #receive (passed: NodeMessage): void {
    if (passed.kind !== 'passed') return
    const { session: id, principal, text } = passed
    const peer = this.#ports.find(id)?.peer
    if (peer === undefined || peer.principal !== principal) return
    const message = this.#ports.decode(text)
    if (message.kind === 'response') peer.settle(message)
    else if (message.kind === 'notification' && message.method === CANCELLED) cancel(peer, message.params)
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
