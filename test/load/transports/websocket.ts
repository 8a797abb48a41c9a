import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket, type ClientOptions } from 'ws'
import {
  closed,
  encode,
  hello,
  initialized,
  modernParams,
  type Address,
  type Transport,
  type Question
} from './transport.js'

/** A WebSocket with a handshake. */
export const websocket: Transport<Address> = { depth: 8, open: opener(true, ({ params }) => params) }

/** A WebSocket of the stateless revision. */
export const modernWebsocket: Transport<Address> = {
  depth: 8,
  open: opener(false, ({ params }) => modernParams(params))
}

function opener (
  withHandshake: boolean,
  paramsOf: (question: Question) => Question['params']
): Transport<Address>['open'] {
  return async ({ port }, ledger) => {
    const { socket, raw } = await openSocket(port)
    if (withHandshake) await performHandshake(socket)
    socket.on('message', (data: Buffer) => ledger.receive(String(data)))
    return {
      ledger,
      over: closed(socket),
      send: (id, question) => socket.send(encode(id, question.method, paramsOf(question))),
      cut: () => {
        raw.resetAndDestroy()
      },
      close: async () => socket.terminate()
    }
  }
}

/** A socket of the `ws` library, and the one under it. */
export async function openSocket (port: number): Promise<{ socket: WebSocket, raw: Socket }> {
  let raw: Socket | undefined
  const createConnection = (): Socket => (raw = connect({ port, host: '127.0.0.1', noDelay: true }))
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, {
    perMessageDeflate: false,
    createConnection
  } as ClientOptions)
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('close', () => reject(new Error('the WebSocket was closed before it was open')))
  })
  return { socket, raw: raw as Socket }
}

export async function performHandshake (socket: WebSocket): Promise<void> {
  socket.send(hello('2025-11-25'))
  await once(socket, 'message')
  socket.send(initialized)
}
