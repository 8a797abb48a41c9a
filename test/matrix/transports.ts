import { openMessage } from './connections/message.js'
import { openSse } from './connections/sse.js'
import { openProcess, openStreams } from './connections/stdio.js'
import { openStreamable } from './connections/streamable.js'
import { openWebSocket } from './connections/websocket.js'
import type { Transport } from './connection.js'

const streaming = { streams: true, remembers: true, http: false, costly: false, cancelsByDropping: () => false }

/** Every way in, for the same script. */
export const transports: readonly Transport[] = [
  { ...streaming, name: 'stdio', open: openStreams },
  { ...streaming, name: 'stdio of a process', costly: true, open: openProcess },
  { ...streaming, name: '/mcp', http: true, cancelsByDropping: ({ modern }) => modern, open: openStreamable },
  {
    ...streaming,
    name: '/message',
    http: true,
    streams: false,
    remembers: false,
    cancelsByDropping: () => true,
    open: openMessage
  },
  { ...streaming, name: 'HTTP+SSE', open: openSse },
  { ...streaming, name: 'WebSocket', open: openWebSocket }
]

/** Those that reach the gateway of this process, where many connections are cheap. */
export const local = transports.filter(({ costly }) => !costly)

/** Those that reach a gateway by its URL. */
export const remote = local.filter(({ open }) => open !== openStreams)
