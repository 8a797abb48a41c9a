import type { Duplex } from 'node:stream'
import type { WebSocket } from '@fastify/websocket'
import { Backlog } from '../../lib/backlog.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { AT_END_OF_TURN, Cohort } from '../../lib/turn-batch.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { hasExpired, type Identity } from '../../protocol/wire/identity.js'
import { Peer } from '../../protocol/peer/peer.js'
import { watchAssembly } from './frames.js'
import { Inbox } from './inbox.js'
import { Outbox } from './outbox.js'

/** Why we close a socket. docs/connect.md lists them. */
const CLOSE = { notText: 1003, refused: 1008, expired: 4401 } as const

const GOODBYE = 500

export interface WebSocketOptions { heartbeat: number, maxQueue: number, writeDeadline: number, assemblyTimeout: number, maxPings: number }

/** One socket, one peer. A text frame is a whole message, so there is nothing to reassemble. */
export function serveWebSocket (mcp: Dispatcher, socket: WebSocket, bytes: Duplex | undefined, identity: Identity, forwarded: boolean, options: WebSocketOptions): void {
  const { heartbeat, maxQueue, writeDeadline, assemblyTimeout, maxPings } = options
  let goodbye = false
  // Behind what was asked and can be answered at once.
  const close = (code: number, why: string) => {
    heard.flush()
    outbox.send()
    goodbye = true
    socket.close(code, why)
  }
  const refuse = (why: string) => {
    close(CLOSE.refused, why)
    // What else it has to say interests nobody; the socket is gone a moment later, whether or not it says goodbye.
    socket.pause()
  }
  const cut = () => {
    goodbye = true
    socket.close(CLOSE.refused, 'messages are not read')
    // The goodbye waits behind what is not read.
    setTimeout(() => socket.terminate(), GOODBYE).unref()
  }
  const backlog = new Backlog({ size: () => socket.bufferedAmount, max: maxQueue, deadline: writeDeadline, cut, shared: mcp.backlogs })
  const outbox = new Outbox(socket, bytes, backlog)
  const channel: Channel = {
    streams: true,
    forwarded,
    respond: text => outbox.put(text, true),
    emit: text => outbox.put(text, false),
    end: () => {}
  }
  const peer = new Peer({ transport: 'websocket', channel, identity })
  mcp.connect(peer)

  // What waited when we said goodbye is not begun any more; what came before the client did so is.
  const take = (data: Buffer) => { if (!goodbye) mcp.receive(mcp.decode(data), peer, channel) }
  const inbox = new Inbox<Buffer>({
    hand: data => heard.add({ data, take }),
    isFull: () => socket.bufferedAmount > maxQueue,
    pause: () => socket.pause(),
    resume: () => socket.resume()
  })

  let alive = true
  const heart = setInterval(() => {
    // Whoever has to read first cannot be heard; that it reads is watched otherwise.
    if (inbox.holds) return
    // An answer that came while we were busy is read first.
    if (!alive) return setImmediate(() => { if (!alive) socket.terminate() })
    alive = false
    socket.ping()
  }, heartbeat).unref()
  const unwatch = bytes === undefined ? () => {} : watchAssembly(bytes, assemblyTimeout, () => refuse('a message was not complete in time'))
  const flood = perSecond(maxPings, () => refuse('too many pings'))

  const expire = () => close(CLOSE.expired, 'credential expired')
  const forget = onExpiry(identity, expire)

  socket.on('ping', flood)
  socket.on('pong', () => { alive = true; flood() })
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    alive = true
    // Frames that were on their way when we said goodbye.
    if (socket.readyState !== socket.OPEN) return
    if (peer.closed || hasExpired(identity)) expire()
    else if (isBinary) close(CLOSE.notText, 'messages are text frames')
    else inbox.push(data)
  })
  // ws closes the socket itself, with the code that fits the fault.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(heart)
    unwatch()
    inbox.stop()
    backlog.stop()
    forget()
    mcp.disconnect(peer, new Error('the socket was closed'))
  })
}

/** What came in one turn of the event loop, from whichever sockets. */
const heard = new Cohort<{ data: Buffer, take: (data: Buffer) => void }>(({ data, take }) => take(data), AT_END_OF_TURN)

/** Runs `beyond` when what it returns is called more often than that within a second. */
function perSecond (max: number, beyond: () => void): () => void {
  let since = -Infinity
  let count = 0
  return () => {
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    if (++count === max + 1) beyond()
  }
}
