import { PassThrough } from 'node:stream'
import { serveStdio } from '../../app.js'
import { Inbox, inTime } from './wait.js'
import { openEvents } from './event-reader.js'
import { post } from './http-requests.js'
import type { Bytes } from './http-client.js'
import { openSocket } from './websocket-client.js'
import type { Server } from './server.js'
import { summariseReply } from './summary.js'

/** A connection that carries messages both ways. */
export interface Connection {
  inbox: Inbox<unknown>
  /** Sends one message; a text is what came back at once instead of a message later. */
  write: (bytes: Bytes) => Promise<string | undefined>
  close: () => Promise<void>
}

export async function socketConnection ({ port, head }: Server): Promise<Connection> {
  const { inbox, send, close } = await openSocket(port, head)
  return { inbox, write: async bytes => { send(bytes); return undefined }, close }
}

export async function sseConnection ({ port, head = [] }: Server): Promise<Connection> {
  const inbox = new Inbox<unknown>()
  const endpoints = new Inbox<string>()
  const { close } = await openEvents(port, '/sse', Object.fromEntries(head), (data, { event }) => {
    if (event === 'endpoint') endpoints.push(data)
    else inbox.push(JSON.parse(data))
  })
  const endpoint = await endpoints.next()
  return {
    inbox,
    write: async bytes => {
      const reply = await post(port, endpoint, bytes, head)
      return reply.status === 202 ? '202' : summariseReply(reply)
    },
    close
  }
}

export interface StdioConnection extends Connection {
  /** Bytes as they are, without an end of line. */
  raw: (bytes: Bytes) => void
}

export async function stdioConnection (
  { app, identity }: Pick<Server, 'app' | 'identity'>,
  maxMessage = 4 * 1024 * 1024
): Promise<StdioConnection> {
  const input = new PassThrough()
  const output = new PassThrough()
  const inbox = new Inbox<unknown>()
  const { closed } = serveStdio(app.mcp, { input, output, maxMessage, ...(identity === undefined ? {} : { identity }) })
  readLines(output, line => inbox.push(JSON.parse(line)))
  return {
    inbox,
    raw: bytes => {
      input.write(bytes)
    },
    write: async bytes => {
      input.write(Buffer.concat([Buffer.from(bytes), Buffer.from('\n')]))
      return undefined
    },
    close: async () => {
      input.end()
      await inTime(closed, 'the end of stdio')
    }
  }
}

/** Passes on a stream line by line. */
export function readLines (stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  })
}
