import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { launch, type Launched } from '../support/process.js'
import { Mailbox } from '../support/mailbox.js'
import { inTime } from '../support/wait.js'
import { exchange, readBody } from '../support/exchange.js'
import { readEvents } from '../support/event-reader.js'
import { Connection, type Answers, type Line } from './connection.js'

/** The three transports of the documents; HTTP has two endpoints. */
export const TRANSPORTS = ['stdio', '/mcp', '/message', 'WebSocket'] as const

export type Transport = typeof TRANSPORTS[number]

export interface Served { process: Launched, url: string }

export interface ServeOptions { args?: string[], env?: Record<string, string> }

/** One real process of the command that serves all transports at once. */
export async function serve (t: Test, { args = [], env = {} }: ServeOptions = {}): Promise<Served> {
  const process = launch(t, ['--stdio', '--port', '0', '--ephemeral', ...args], {
    env: { MCP_LOG_LEVEL: 'fatal', ...env }
  })
  const url = await process.url()
  return { process, url: url.replace('127.0.0.1', 'localhost') }
}

/** A client of such a process, without a handshake so far. */
export async function connect (
  t: Test,
  transport: Transport,
  served: Served,
  answers: Answers = {}
): Promise<Connection> {
  const line = await LINES[transport](served)
  t.teardown(line.close)
  return new Connection(line, answers)
}

const LINES: Record<Transport, (served: Served) => Line | Promise<Line>> = {
  stdio: ({ process }) => ({
    write: text => process.write(`${text}\n`),
    next: async () => await process.next(),
    close: () => {}
  }),

  '/mcp': ({ url }) =>
    http(`${url}/mcp`, ({ 'x-session-id': session }) =>
      session === undefined ? {} : { 'x-session-id': String(session) }
    ),

  '/message': ({ url }) =>
    http(`${url}/message`, (_headers, body) => {
      const version = /"protocolVersion":"([^"]+)"/.exec(body)?.[1]
      return version === undefined ? {} : { 'mcp-protocol-version': version }
    }),

  WebSocket: async ({ url }) => {
    const arrived = new Mailbox<unknown>()
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    socket.on('message', (data: Buffer) => arrived.push(JSON.parse(String(data))))
    await inTime(once(socket, 'open'), 'the open socket')
    return {
      write: text => socket.send(text),
      next: async () => await arrived.take('a frame'),
      close: () => socket.terminate()
    }
  }
}

/**
 * Posts each message; `remember` returns what later ones carry because of a reply. A session is listened to once it is
 * initialized.
 */
function http (url: string, remember: (headers: IncomingHttpHeaders, body: string) => Record<string, string>): Line {
  const arrived = new Mailbox<unknown>()
  const agent = new Agent({ keepAlive: true })
  let headers: Record<string, string> = {}

  return {
    write: async text => {
      await inTime(
        new Promise<void>(resolve => {
          exchange(agent, url, { method: 'POST', headers, body: text }, reply => read(reply, resolve))
        }),
        'a reply'
      )
      if (/"method":"(notifications\/)?initialized"/.test(text) && 'x-session-id' in headers) {
        exchange(agent, url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } }, reply =>
          read(reply, () => {})
        )
      }
    },
    next: async () => await arrived.take('a reply'),
    close: () => agent.destroy()
  }

  /** An answer in JSON is all there is; the end of a stream is not known. */
  function read (reply: IncomingMessage, done: () => void): void {
    if (reply.headers['content-type']?.startsWith('text/event-stream') === true) {
      done()
      readEvents(reply, ({ data = '' }) => { if (data !== '') arrived.push(JSON.parse(data)) })
      return
    }
    readBody(reply, body => {
      headers = { ...headers, ...remember(reply.headers, body) }
      if (body !== '') arrived.push(JSON.parse(body))
      done()
    })
  }
}
