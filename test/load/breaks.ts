import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.js'
import type { TransportName } from './transports/all.js'
import { encode, modernParams } from './transports/transport.js'
import { modernHeaders, openSession } from './transports/post.js'
import { openSocket } from './transports/websocket.js'
import type { Gateway } from './gateway.js'
import { HttpConnection, type HttpRequest } from '../support/http-connection.js'
import { later } from './questions.js'

/** How long a call takes that is cut off, and when that happens. */
const CALL = 250
const CUT = 20
/**
 * So many requests on a connection that is open, one after the other: meanwhile a busy gateway reads the others, too.
 */
const ROUNDS = 5

/** Opens and resets so many connections, one after the other. */
export type Break = (gateway: Gateway, times: number, worker: string) => Promise<void>

export const breaks: Record<string, Break> = {
  'WebSocket, idle': async ({ port }, times) => {
    for (let n = 0; n < times; n++) (await openSocket(port)).raw.resetAndDestroy()
  },
  'WebSocket, mid-call': midCall('WebSocket, handshake'),
  'GET stream of a session': async ({ port }, times) => {
    const home = new HttpConnection(port)
    const headers = await openSession(home)
    for (let n = 0; n < times; n++) {
      await breakStream(port, { method: 'GET', path: '/mcp', headers: { ...headers, Accept: 'text/event-stream' } })
    }
    await home.exchange({ method: 'DELETE', path: '/mcp', headers })
    home.socket.destroy()
  },
  'subscriptions/listen': async ({ port }, times) => {
    const question = {
      method: 'subscriptions/listen',
      params: modernParams({ notifications: { toolsListChanged: true } })
    }
    const body = encode(0, question.method, question.params)
    for (let n = 0; n < times; n++) {
      await breakStream(port, { method: 'POST', path: '/mcp', headers: modernHeaders(question), body })
    }
  },
  'HTTP+SSE, mid-call': midCall('HTTP+SSE'),
  'POST /message, mid-call': midCall('POST /message'),
  'POST /mcp stateless, mid-call': midCall('POST /mcp, stateless'),
  'POST /mcp session, mid-call': async ({ port }, times) => {
    const home = new HttpConnection(port)
    const headers = await openSession(home)
    for (let n = 0; n < times; n++) {
      const { method, params } = later('cut', CALL)
      const connection = await new HttpConnection(port).connected()
      connection.request(
        { method: 'POST', path: '/mcp', headers, body: encode(n, method, params) },
        { message: () => {}, end: () => {}, cut: () => {} }
      )
      await sleep(CUT)
      await goRound(home)
      connection.socket.resetAndDestroy()
    }
    // The calls go on without their connections.
    await sleep(CALL)
    await home.exchange({ method: 'DELETE', path: '/mcp', headers })
    home.socket.destroy()
  },
  'half a request': async ({ port }, times) => {
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
    for (let n = 0; n < times; n++) {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(n % 2 === 0 ? head : `${head}Content-Length: 1000\r\n\r\n{"jsonrpc":`)
      await sleep(2)
      socket.resetAndDestroy()
    }
  }
}

function midCall (kind: TransportName): Break {
  return async (gateway, times, worker) => {
    const home = await new HttpConnection(gateway.port).connected()
    for (let n = 0; n < times; n++) {
      const client = await Client.open(gateway, kind, `${worker}-${n}`)
      client.ask(mark => later(mark, CALL))
      await sleep(CUT)
      await goRound(home)
      client.connection.cut()
    }
    home.socket.destroy()
  }
}

/** Settles when the gateway has gone round its event loop some times, and so has read what was sent before. */
async function goRound (home: HttpConnection): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await home.exchange({ method: 'GET', path: '/livez', headers: {} })
}

/** Waits until the stream is open, and cuts it. */
async function breakStream (port: number, request: HttpRequest): Promise<void> {
  for (let status = 0; status !== 200;) {
    const connection = new HttpConnection(port)
    status = await new Promise<number>(resolve =>
      connection.request(request, { head: resolve, message: () => {}, end: () => {}, cut: () => resolve(0) })
    )
    connection.socket.resetAndDestroy()
    if (status !== 200) throw new Error(`${request.method} ${request.path} was answered with ${status}`)
  }
}
