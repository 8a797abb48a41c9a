import type { DoorKind } from './door.js'
import { httpSse } from './http-sse.js'
import { message, modern, session } from './post.js'
import { stdio } from './stdio.js'
import { modernWebsocket, websocket } from './websocket.js'

/** Every way in. */
export const doors = {
  stdio,
  'POST /mcp, session': session,
  'POST /mcp, stateless': modern,
  'POST /message': message,
  'HTTP+SSE': httpSse,
  'WebSocket, handshake': websocket,
  'WebSocket, stateless': modernWebsocket
} satisfies Record<string, DoorKind>

export type DoorName = keyof typeof doors

export const doorNames = Object.keys(doors) as DoorName[]
