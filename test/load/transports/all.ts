import type { Transport } from './transport.js'
import { httpSse } from './http-sse.js'
import { message, modern, session } from './post.js'
import { stdio } from './stdio.js'
import { modernWebsocket, websocket } from './websocket.js'

/** Every way in. */
export const transports = {
  stdio,
  'POST /mcp, session': session,
  'POST /mcp, stateless': modern,
  'POST /message': message,
  'HTTP+SSE': httpSse,
  'WebSocket, handshake': websocket,
  'WebSocket, stateless': modernWebsocket
} satisfies Record<string, Transport>

export type TransportName = keyof typeof transports

export const transportNames = Object.keys(transports) as TransportName[]
