import { HttpConnection, type Reader } from '../../support/http-connection.js'
import type { Ledger } from '../ledger.js'
import { httpSse } from '../transports/http-sse.js'
import { message, modern, openSession, session } from '../transports/post.js'
import {
  closed,
  encode,
  type Address,
  type Connection,
  type Question,
  type Transport
} from '../transports/transport.js'
import { modernWebsocket, websocket } from '../transports/websocket.js'

/** What a client does about a message, besides writing it down. */
type Reaction = (
  message: { id?: unknown, method?: string, params?: { message?: string } },
  id: number,
  posts: Posts
) => void

/** Every way in over HTTP, a client that answers questions and one that cancels its calls. */
export const nodeTransports: Record<string, Transport<Address>> = {
  'POST /mcp, session': session,
  'POST /mcp, stateless': modern,
  'POST /message': message,
  'HTTP+SSE': httpSse,
  'WebSocket, handshake': websocket,
  'WebSocket, stateless': modernWebsocket,
  questions: reacting(({ id, method, params }, _id, posts) => {
    if (method === 'elicitation/create') {
      posts.send({ id, result: { action: 'accept', content: { text: params?.message } } })
    }
  }),
  cancellations: reacting(({ method }, id, posts) => {
    if (method === 'notifications/progress') {
      posts.send({ method: 'notifications/cancelled', params: { requestId: id } })
    }
  }, (ledger, id) => ledger.withdraw(id))
}

/**
 * A session with a second connection, on which the client reacts to what comes on the first: perhaps at another node.
 */
function reacting (react: Reaction, onEnd: (ledger: Ledger, id: number) => void = () => {}): Transport<Address> {
  return {
    depth: 1,
    open: async ({ port }, ledger) => {
      const [calls, posts] = [new HttpConnection(port), new HttpConnection(port)]
      const headers = await openSession(calls, { elicitation: {} })
      return connectionOf(
        ledger,
        calls,
        headers,
        id =>
          readerOf(
            ledger,
            id,
            text => react(JSON.parse(text) as object, id, new Posts(posts, headers)),
            () => onEnd(ledger, id)
          ),
        posts
      )
    }
  }
}

function connectionOf (
  ledger: Ledger,
  calls: HttpConnection,
  headers: Record<string, string>,
  reader: (id: number) => Reader,
  posts: HttpConnection
): Connection {
  return {
    ledger,
    over: closed(calls.socket, posts.socket),
    send: (id: number, { method, params }: Question) =>
      calls.request({ method: 'POST', path: '/mcp', headers, body: encode(id, method, params) }, reader(id)),
    cut: () => {
      for (const { socket } of [calls, posts]) socket.resetAndDestroy()
    },
    close: async () => {
      await calls.exchange({ method: 'DELETE', path: '/mcp', headers }).catch(() => {})
      for (const { socket } of [calls, posts]) socket.destroy()
    }
  }
}

function readerOf (ledger: Ledger, id: number, onMessage: (text: string) => void, onEnd: () => void): Reader {
  let status = 0
  return {
    head: given => { status = given },
    message: text => {
      if (status !== 200) return
      ledger.receive(text)
      onMessage(text)
    },
    end: () => status === 200 ? onEnd() : ledger.refuse(id),
    cut: () => {}
  }
}

/** Sends messages that have no answer. */
class Posts {
  readonly #connection: HttpConnection
  readonly #headers: Record<string, string>

  constructor (connection: HttpConnection, headers: Record<string, string>) {
    this.#connection = connection
    this.#headers = headers
  }

  send (message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#connection.request(
      { method: 'POST', path: '/mcp', headers: this.#headers, body },
      { message: () => {}, end: () => {}, cut: () => {} }
    )
  }
}
