import { limitPerSecond } from '../../lib/time.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { CLOSE } from './close-codes.js'
import { WebSocketConnection, type QueueLimits, type WebSocketClient } from './connection.js'
import { watchAssembly } from './frames.js'
import { Heartbeat } from './heartbeat.js'

export interface WebSocketOptions extends QueueLimits { heartbeat: number, assemblyTimeout: number, maxPings: number }

/** The codes of ws for messages of too many bytes or fragments. */
const TOO_LARGE = new Set<string | undefined>(['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 'WS_ERR_TOO_MANY_BUFFERED_PARTS'])

/** Serves MCP on a socket until it closes, and closes it when the client breaks a limit or its credential expires. */
export function serveWebSocket (mcp: Dispatcher, client: WebSocketClient, options: WebSocketOptions): void {
  const { socket, rawSocket, identity } = client
  const connection = new WebSocketConnection(mcp, client, options)
  const heartbeat = new Heartbeat(
    socket,
    options.heartbeat,
    () => connection.isPaused,
    () => mcp.backlogs.cuts.notify('heartbeat')
  )
  const stopWatching = rawSocket === undefined
    ? () => {}
    : watchAssembly(rawSocket, options.assemblyTimeout, () => connection.refuse(CLOSE.incompleteMessage))
  const countPing = limitPerSecond(options.maxPings, () => connection.refuse(CLOSE.tooManyPings))
  const offExpiry = onExpiry(identity, () => connection.close(CLOSE.expired))

  socket.on('ping', countPing)
  socket.on('pong', () => {
    heartbeat.beat()
    countPing()
  })
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    heartbeat.beat()
    connection.push(data, isBinary)
  })
  // ws closes the socket itself, with the code that fits the fault.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (TOO_LARGE.has(error.code)) mcp.observers.reportRefusal({ refusal: 'size' })
  })
  socket.on('close', () => {
    heartbeat.stop()
    stopWatching()
    offExpiry()
    connection.dispose()
  })
}
