import { isModern } from '../revisions/table.js'
import { errors } from '../wire/errors.js'
import type { Incoming, Request } from '../wire/jsonrpc.js'

/**
 * How a message that was posted to `/mcp` is served: without state in the modern era; in the legacy era by opening a
 * session, in the session that the HTTP request names, or without one (`ping`, and what is no message at all).
 */
export type PostedMessage =
  { kind: 'stateless' | 'sessionless' | 'reinitialize' | 'in-session', incoming: Incoming } |
  { kind: 'initialize', incoming: Request }

const RESPONSE_REFUSED: Incoming = {
  kind: 'invalid',
  id: undefined,
  error: errors.invalidRequest('clients of this revision do not send responses')
}

/** `version` is the MCP-Protocol-Version header, `namesSession` whether the HTTP request has the id of a session. */
export function classifyPosted (incoming: Incoming, version: unknown, namesSession: boolean): PostedMessage {
  const isRequest = incoming.kind === 'request'
  if (isModern(version) || (isRequest && incoming.selfDescribed)) {
    return { kind: 'stateless', incoming: incoming.kind === 'response' ? RESPONSE_REFUSED : incoming }
  }
  if (incoming.kind === 'invalid') return { kind: 'sessionless', incoming }
  if (isRequest && incoming.method === 'initialize') {
    return { kind: namesSession ? 'reinitialize' : 'initialize', incoming }
  }
  if (isRequest && incoming.method === 'ping' && !namesSession) return { kind: 'sessionless', incoming }
  return { kind: 'in-session', incoming }
}
