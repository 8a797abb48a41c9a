import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import type { FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import { serveStdio } from '../../../app.js'
import { modernMeta } from '../../support/modern.js'
import { within } from '../../support/wait.js'
import { openSession, post } from '../../support/http-session.js'
import { openStream, type Json } from '../../support/event-reader.js'

/** How a call was answered; over HTTP with the status, and how long one has to wait if one has to. */
export interface Answer { body: Json | Json[], status?: number, retryAfter?: string | null }

export interface Connection {
  /** How many calls it took to get here. */
  cost: number
  send: (message: object) => Promise<Answer>
  close: () => void
}

type Opener = (app: FastifyInstance, url: string) => Promise<Connection>

/** Every way in, with how many calls it takes to open it. */
export const transports: Record<string, Opener> = {
  'POST /mcp in 2026-07-28': async (_app, url) => ({
    cost: 0,
    send: async message => await toAnswer(await post(url, modern(message), modernHeaders(message))),
    close: () => {}
  }),
  'POST /mcp with a session': async (_app, url) => {
    const session = await openSession(url)
    return { cost: 1, send: async message => await toAnswer(await session.post(message)), close: () => {} }
  },
  'POST /message': async (_app, url) => ({
    cost: 0,
    send: async message => await postMessage(`${url}/message`, message),
    close: () => {}
  }),
  'HTTP+SSE': openSse,
  WebSocket: openSocket,
  stdio: openStdio
}

export async function postMessage (url: string, message: object): Promise<Answer> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text(message)
  })
  const body = await reply.text()
  return {
    status: reply.status,
    retryAfter: reply.headers.get('retry-after'),
    body: (body.startsWith('{') || body.startsWith('[') ? JSON.parse(body) : {}) as Json
  }
}

async function openSse (_app: FastifyInstance, url: string): Promise<Connection> {
  const stream = await openStream(`${url}/sse`)
  const endpoint = `${url}${(await stream.event())?.data}`
  const send = async (message: object) => {
    const posted = await postMessage(endpoint, message)
    return posted.status === 202 ? { status: 202, body: await stream.message() } : posted
  }
  await send({ id: 'hello', method: 'initialize', params: {} })
  return { cost: 2, send, close: () => stream.drop() }
}

async function openSocket (_app: FastifyInstance, url: string): Promise<Connection> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  await once(socket, 'open')
  const send = async (message: object) => {
    const received = within(60_000, async signal => await once(socket, 'message', { signal }))
    socket.send(text(message))
    return { body: JSON.parse(String((await received)[0])) as Json }
  }
  await send({ id: 'hello', method: 'initialize', params: { protocolVersion: '2025-03-26' } })
  return { cost: 2, send, close: () => socket.terminate() }
}

async function openStdio (app: FastifyInstance): Promise<Connection> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  serveStdio(app.mcp, { input, output, maxMessage: 100_000 })
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const send = async (message: object) => {
    input.write(`${text(message)}\n`)
    return { body: JSON.parse((await lines.next()).value as string) as Json }
  }
  await send({ id: 'hello', method: 'initialize', params: { protocolVersion: '2025-03-26' } })
  return { cost: 1, send, close: () => input.end() }
}

const text = (message: object) => JSON.stringify(Array.isArray(message) ? message.map(versioned) : versioned(message))
const versioned = (message: object) => ({ jsonrpc: '2.0', ...message })

function modern (message: object): object {
  const { params = {}, ...rest } = message as { params?: object }
  return { ...rest, params: { ...params, _meta: modernMeta() } }
}

function modernHeaders (message: object): Record<string, string> {
  const { method, params } = message as { method: string, params?: { name?: string } }
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(params?.name === undefined ? {} : { 'mcp-name': params.name })
  }
}

async function toAnswer ({ status, headers, body }: Awaited<ReturnType<typeof post>>): Promise<Answer> {
  return { status, retryAfter: headers.get('retry-after'), body }
}
