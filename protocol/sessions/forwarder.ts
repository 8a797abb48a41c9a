import type { PassedMessage } from '../nodes/message.js'
import type { NodeCalls } from '../nodes/node-calls.js'
import { cancelCall } from '../peer/cancel-call.js'
import type { Peer } from '../peer/peer.js'
import { errors } from '../wire/errors.js'
import { encodeNotification, isId, type Id, type Incoming, type Notification, type Response } from '../wire/jsonrpc.js'
import type { Session } from './session.js'

const CANCELLED = 'notifications/cancelled'
/** For how many milliseconds an answer is passed on whose client waits for that: a busy node may take seconds. */
const TIMEOUT = 10_000

export interface ForwarderPorts {
  nodeCalls: NodeCalls
  find: (id: string) => Session | undefined
  decode: (text: string) => Incoming
  onTrouble: (error: unknown) => void
}

/**
 * Passes on a message of a client. For an answer it returns a promise, which settles when the node that asked has it or
 * is gone, and rejects when that is not known in time.
 */
export type Forward = (session: Session, message: Response | Notification) => Promise<void> | undefined

/**
 * Passes on what a client sent about a request that another node runs: an answer to the node that its id names, a
 * cancellation to all. What other nodes pass on counts only for a session of the same caller.
 */
export function openForwarder ({ nodeCalls, find, decode, onTrouble }: ForwarderPorts): Forward {
  nodeCalls.on('passed', async ({ session, principal, text }) => {
    const peer = find(session)?.peer
    if (peer === undefined || peer.principal !== principal) return false
    const message = decode(text)
    if (message.kind === 'response') peer.settle(message)
    else if (message.kind === 'notification' && message.method === CANCELLED) cancel(peer, message.params)
    return true
  })
  return ({ id, peer: { principal } }, message) => {
    const passed: PassedMessage = { session: id, principal, text: encode(message) }
    const node = message.kind === 'response' ? nodeOf(message.id) : undefined
    if (message.kind === 'notification') nodeCalls.broadcast('passed', passed).catch(onTrouble)
    else if (node !== undefined && node !== nodeCalls.nodes.self) return pass(nodeCalls, node, passed)
  }
}

async function pass (nodeCalls: NodeCalls, node: string, passed: PassedMessage): Promise<void> {
  try {
    const { outcome } = await nodeCalls.request(node, 'passed', passed, { timeout: TIMEOUT })
    if (outcome === 'answered' || !await nodeCalls.nodes.isAlive(node)) return
  } catch (error) {
    throw errors.answerNotPassedOn((error as Error).message)
  }
  throw errors.answerNotPassedOn('it does not reply')
}

function cancel (peer: Peer, { requestId, reason }: Record<string, unknown>): void {
  if (isId(requestId)) cancelCall(peer, requestId, typeof reason === 'string' ? reason : undefined)
}

/** The node that waits for the answer to a request of this id. */
const nodeOf = (id: Id | undefined): string | undefined =>
  typeof id === 'string' ? /^([0-9a-f]{12})-\d{1,16}$/.exec(id)?.[1] : undefined

function encode (message: Response | Notification): string {
  if (message.kind === 'notification') return encodeNotification(message.method, message.params)
  const { kind, ...response } = message
  return JSON.stringify({ jsonrpc: '2.0', ...response })
}
