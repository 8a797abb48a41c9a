import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The members that are used of a WebSocket of `ws`. */
interface PingedSocket {
  readonly readyState: number
  readonly OPEN: number
  pong (data: Buffer): void
  on (event: 'ping', listener: (data: Buffer) => void): unknown
}

/**
 * Answers the pings of a socket without `autoPong`, as long as it is open. With `autoPong`, ws makes an error for each
 * ping that comes after the end, in one turn for a whole chunk.
 */
export function answerPings (socket: PingedSocket): void {
  socket.on('ping', data => { if (socket.readyState === socket.OPEN) socket.pong(data) })
}

/** Headers that are about the upgrade alone. */
const DROPPED = new Set(['upgrade', 'http2-settings', 'connection'])

export const wantsWebSocket = ({ headers: { upgrade } }: IncomingMessage): boolean =>
  String(upgrade).toLowerCase() === 'websocket'

/**
 * Serves a request that wants to become something we do not speak as the plain request it is, too: Node takes its
 * connection away from the parser, so it is given back with what was read of it. Clients that offer HTTP/2 this way
 * expect no less.
 */
export function serveWithoutUpgrade (server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(index, index + 2)
    if (!DROPPED.has(name.toLowerCase())) lines.push(`${name}: ${value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket)
}
