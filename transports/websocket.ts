import type { WebSocket } from '@fastify/websocket'
import { Backlog } from '../protocol/backlog.js'
import type { Channel } from '../protocol/channel.js'
import type { Dispatcher } from '../protocol/dispatcher.js'
import { onExpiry } from '../protocol/expiry.js'
import { hasExpired, type Identity } from '../protocol/identity.js'
import { Peer } from '../protocol/peer.js'

/** Why we close a socket. docs/connect.md lists them. */
const CLOSE = { notText: 1003, tooSlow: 1008, expired: 4401 } as const

export interface WebSocketOptions { heartbeat: number, maxQueue: number, writeDeadline: number }

/** One socket, one peer. A text frame is a whole message, so there is nothing to reassemble. */
export function serveWebSocket (mcp: Dispatcher, socket: WebSocket, identity: Identity, { heartbeat, maxQueue, writeDeadline }: WebSocketOptions): void {
  const backlog = new Backlog({ size: () => socket.bufferedAmount, max: maxQueue, deadline: writeDeadline, cut: () => socket.close(CLOSE.tooSlow, 'messages are not read') })
  const channel = overSocket(socket, backlog)
  const peer = new Peer({ transport: 'websocket', channel, identity })
  mcp.connect(peer)

  let alive = true
  const heart = setInterval(() => {
    if (!alive) return socket.terminate()
    alive = false
    socket.ping()
  }, heartbeat).unref()

  const expire = () => socket.close(CLOSE.expired, 'what said who you are has expired')
  const forget = onExpiry(identity, expire)

  socket.on('pong', () => { alive = true })
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    alive = true
    // Frames that were on their way when we said goodbye.
    if (socket.readyState !== socket.OPEN) return
    if (hasExpired(identity)) expire()
    else if (isBinary) socket.close(CLOSE.notText, 'messages are text frames')
    else mcp.receive(mcp.decode(data), peer, channel)
  })
  // ws closes the socket itself, with the code that fits the fault.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(heart)
    backlog.stop()
    forget()
    mcp.disconnect(peer, new Error('the socket was closed'))
  })
}

function overSocket (socket: WebSocket, backlog: Backlog): Channel {
  const send = (text: string, answer: boolean) => {
    if (socket.readyState !== socket.OPEN) return
    socket.send(text)
    backlog.written(Buffer.byteLength(text), answer)
  }
  return { streams: true, respond: text => send(text, true), emit: text => send(text, false), end: () => {} }
}
