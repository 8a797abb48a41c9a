import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { CLOSE } from './close-codes.js'
import { WebSocketConnection, type QueueLimits, type WebSocketClient } from './connection.js'
import { watchAssembly } from './frames.js'
import { Heartbeat } from './heartbeat.js'

export interface WebSocketOptions extends QueueLimits { heartbeat: number, assemblyTimeout: number, maxPings: number }

/** Serves MCP on a socket until it closes, and closes it when the client breaks a limit or its credential expires. */
export function serveWebSocket (mcp: Dispatcher, client: WebSocketClient, options: WebSocketOptions): void {
  const { socket, rawSocket, identity } = client
  const connection = new WebSocketConnection(mcp, client, options)
  const heartbeat = new Heartbeat(socket, options.heartbeat, () => connection.isPaused)
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
  socket.on('error', () => {})
  socket.on('close', () => {
    heartbeat.stop()
    stopWatching()
    offExpiry()
    connection.dispose()
  })
}

/** Counts calls of the function it returns, and runs `onExcess` at the first one beyond `max` in a second. */
function limitPerSecond (max: number, onExcess: () => void): () => void {
  let since = -Infinity
  let count = 0
  return () => {
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    if (++count === max + 1) onExcess()
  }
}
