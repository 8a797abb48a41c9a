import { connect } from 'node:net'
import { hello } from './transports/transport.js'
import { openSession } from './transports/post.js'
import { performHandshake, openSocket } from './transports/websocket.js'
import { HttpConnection } from '../support/http-connection.js'

/** Between two bytes of a client that never finishes its request. */
const DRIBBLE = 3_000

export interface SlowReader { pause: () => void, cut: () => Promise<void> }

type ReaderKind = 'WebSocket' | 'GET /mcp' | 'GET /sse'

/** So many WebSockets, and as many event streams. */
export const readerKinds = (count: number): Array<{ name: ReaderKind, count: number }> => [
  { name: 'WebSocket', count },
  { name: 'GET /mcp', count: Math.ceil(count / 2) },
  { name: 'GET /sse', count: Math.floor(count / 2) }
]

/** A client that gets all notifications, as long as it reads. */
export async function openReader (port: number, kind: ReaderKind): Promise<SlowReader> {
  if (kind === 'WebSocket') return await openWebSocket(port)
  const connection = new HttpConnection(port)
  const { socket } = connection
  const session = kind === 'GET /mcp' ? await openSession(connection) : undefined
  if (session === undefined) await openSse(port, connection)
  else await stream(connection, '/mcp', session)
  return {
    pause: () => { socket.pause() },
    cut: async () => {
      socket.destroy()
      if (session !== undefined) await forget(port, session)
    }
  }
}

/** Sends a byte now and then, and never the last. */
export async function dribble (port: number): Promise<() => Promise<void>> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const text = 'POST /mcp HTTP/1.1\r\nX-Long: '.padEnd(1_000, 'x')
  let at = 0
  const timer = setInterval(() => socket.write(text[at++] ?? 'x'), DRIBBLE)
  socket.once('close', () => clearInterval(timer))
  // So that its end is noticed.
  socket.resume()
  await new Promise<void>((resolve, reject) => { socket.once('connect', resolve).once('error', reject) })
  socket.write(text[at++] ?? '')
  return async () => { socket.destroy() }
}

async function openWebSocket (port: number): Promise<SlowReader> {
  const { socket, raw } = await openSocket(port)
  await performHandshake(socket)
  socket.on('message', () => {})
  return { pause: () => { raw.pause() }, cut: async () => { socket.terminate() } }
}

/** A session outlives its streams, and goes on costing. */
async function forget (port: number, headers: Record<string, string>): Promise<void> {
  const connection = new HttpConnection(port)
  await connection.exchange({ method: 'DELETE', path: '/mcp', headers })
  connection.socket.destroy()
}

async function stream (
  connection: HttpConnection,
  path: string,
  headers: Record<string, string>,
  onText: (text: string) => void = () => {}
): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    connection.request(
      { method: 'GET', path, headers: { ...headers, Accept: 'text/event-stream' } },
      {
        head: status => {
          if (status === 200) resolve()
          else reject(new Error(`GET ${path} was answered with ${status}`))
        },
        message: onText,
        end: () => {},
        cut: () => {}
      }
    )
  )
}

async function openSse (port: number, connection: HttpConnection): Promise<void> {
  const posts = new HttpConnection(port)
  const path = await new Promise<string>((resolve, reject) => {
    stream(connection, '/sse', {}, text => {
      if (text.startsWith('/')) resolve(text)
    }).catch(reject)
  })

  await posts.exchange({ method: 'POST', path, body: hello('2024-11-05') })
  posts.socket.destroy()
}
