import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import { HttpConnection } from '../../support/http-connection.js'
import { ADA, bearer } from '../../support/keys.js'
import type { Gateway } from '../gateway.js'
import { modernHeaders } from '../transports/post.js'
import { encode, hello, initialized, MODERN, modernParams, type Question } from '../transports/transport.js'
import { cancelled, Conversation, withProgress, type Answer, type Caller } from './caller.js'

const HANDSHAKE = '2025-11-25'
const OLDEST = '2024-11-05'
const AUTHORIZATION = { Authorization: bearer(ADA).authorization }

const legacy = (id: number, { method, params }: Question): string => encode(id, method, params)
const modern = (id: number, { method, params }: Question): string => encode(id, method, modernParams(params))

/** Standard input and output, of which there is one. */
export async function stdio ({ pipes: { stdin, stdout } }: Gateway): Promise<Caller> {
  const lines = createInterface({ input: stdout })
  const answered = once(lines, 'line')
  stdin.write(`${hello(HANDSHAKE)}\n`)
  await answered
  stdin.write(`${initialized}\n`)
  const conversation = new Conversation(text => stdin.write(`${text}\n`), legacy)
  lines.on('line', line => conversation.receive(line))
  return callerOf(conversation, 'stdio', HANDSHAKE, () => {})
}

async function websocket ({ port }: Gateway): Promise<Caller> {
  const socket = await openSocket(port)
  const answered = once(socket, 'message')
  socket.send(hello(HANDSHAKE))
  await answered
  socket.send(initialized)
  return conversing(socket, legacy, HANDSHAKE)
}

const modernWebsocket = async ({ port }: Gateway): Promise<Caller> => conversing(await openSocket(port), modern, MODERN)

async function openSocket (port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, { perMessageDeflate: false, headers: AUTHORIZATION })
  await once(socket, 'open')
  return socket
}

function conversing (socket: WebSocket, encode: typeof legacy, revision: string): Caller {
  const conversation = new Conversation(text => socket.send(text), encode)
  socket.on('message', (data: Buffer) => conversation.receive(String(data)))
  return callerOf(conversation, 'websocket', revision, () => socket.terminate())
}

/** HTTP+SSE: messages are posted, answers come on one stream. */
async function httpSse ({ port }: Gateway): Promise<Caller> {
  const [stream, posts] = [new HttpConnection(port), new HttpConnection(port)]
  let receive = (_text: string): void => {}
  const next = async () => await new Promise<string>(resolve => { receive = resolve })
  const place = next()
  stream.request(
    { method: 'GET', path: '/sse', headers: { ...AUTHORIZATION, Accept: 'text/event-stream' } },
    { message: text => receive(text), end: () => {}, cut: () => {} }
  )
  const path = await place
  const write = (body: string): void =>
    posts.request(
      { method: 'POST', path, headers: AUTHORIZATION, body },
      { message: () => {}, end: () => {}, cut: () => {} }
    )
  const answered = next()
  write(hello(OLDEST))
  await answered
  write(initialized)
  const conversation = new Conversation(write, legacy)
  receive = text => conversation.receive(text)
  return callerOf(conversation, 'sse', OLDEST, () => { for (const { socket } of [stream, posts]) socket.destroy() })
}

function callerOf (
  conversation: Conversation,
  transport: Caller['transport'],
  revision: string,
  end: () => void
): Caller {
  return {
    transport,
    revision,
    hasHandshake: revision !== MODERN,
    call: async question => await conversation.call(question),
    cancel: async question => await conversation.cancel(question),
    close: async () => end()
  }
}

type Heading = (question: Question) => Record<string, string>

/** A request of its own for each call; the answer is its reply. */
function posting (
  port: number,
  path: string,
  heading: Heading,
  encode: typeof legacy
): {
    connection: HttpConnection
    call: Caller['call']
    begin: (id: number, question: Question) => Promise<HttpConnection>
  } {
  const connection = new HttpConnection(port)
  const request = (id: number, question: Question) => ({
    method: 'POST' as const,
    path,
    headers: { ...AUTHORIZATION, ...heading(question) },
    body: encode(id, question)
  })
  let next = 0
  return {
    connection,
    call: async question => {
      const { status, body } = await connection.exchange(request(next++, question))
      return { status, ...(body === '' ? {} : (JSON.parse(body) as Answer)) }
    },
    // Settles with the connection of a call when that tells about its progress.
    begin: async (id, question) => {
      const own = new HttpConnection(port)
      await new Promise<void>((resolve, reject) =>
        own.request(request(id, withProgress(question, id)), {
          message: () => resolve(),
          end: status => reject(new Error(`the call ended with ${status}`)),
          cut: () => {}
        })
      )
      return own
    }
  }
}

/** `POST /mcp` with a session. */
async function session ({ port }: Gateway): Promise<Caller> {
  const headers: Record<string, string> = { ...AUTHORIZATION, 'MCP-Protocol-Version': HANDSHAKE }
  const { connection, call, begin } = posting(port, '/mcp', () => headers, legacy)
  const opened = await connection.exchange({
    method: 'POST',
    path: '/mcp',
    headers: AUTHORIZATION,
    body: hello(HANDSHAKE)
  })
  headers['Mcp-Session-Id'] = String(opened.headers.get('mcp-session-id'))
  await connection.exchange({ method: 'POST', path: '/mcp', headers, body: initialized })
  let id = 1_000_000_000
  return {
    transport: 'http',
    revision: HANDSHAKE,
    hasHandshake: true,
    call,
    cancel: async question => {
      const own = await begin(++id, question)
      await connection.exchange({ method: 'POST', path: '/mcp', headers, body: cancelled(id) })
      own.socket.destroy()
    },
    close: async () => {
      await connection.exchange({ method: 'DELETE', path: '/mcp', headers })
      connection.socket.destroy()
    }
  }
}

/** `POST /mcp` of the stateless revision, where a client cancels by hanging up. */
async function stateless ({ port }: Gateway): Promise<Caller> {
  const { connection, call, begin } = posting(port, '/mcp', modernHeaders, modern)
  return {
    transport: 'http',
    revision: MODERN,
    hasHandshake: false,
    call,
    cancel: async question => {
      (await begin(0, question)).socket.destroy()
    },
    close: async () => {
      connection.socket.destroy()
    }
  }
}

/** `POST /message`, without a handshake. */
async function message ({ port }: Gateway): Promise<Caller> {
  const { connection, call } = posting(port, '/message', () => ({}), legacy)
  return {
    transport: 'http',
    revision: OLDEST,
    hasHandshake: false,
    call,
    close: async () => {
      connection.socket.destroy()
    }
  }
}

/** Those that there may be any number of. */
export const ways = [session, stateless, message, httpSse, websocket, modernWebsocket]
