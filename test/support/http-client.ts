import { connect } from 'node:net'
import { ReplyParser, type Reply } from './reply-parser.js'
import { inTime } from './wait.js'

export type { Reply } from './reply-parser.js'

export type Bytes = string | Uint8Array

export type Head = Array<[name: string, value: string]>

/** Sends exactly these bytes, however wrong they are, and reads one HTTP reply. */
export async function exchange (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, parser => parser.done)
}

/** Sends a request without waiting for the body of the reply: streams have no end. */
export async function headOf (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, parser => parser.hasHead)
}

export async function statusOf (port: number, ...parts: Bytes[]): Promise<number> {
  return (await headOf(port, ...parts)).status
}

/** Sends a request after whose reply the server has to close the connection. */
export async function lastExchange (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, () => false)
}

/** The bytes of a request as a well-behaved client would send it, with these header lines in this order. */
export function request (method: string, target: string, head: Head, body?: Bytes): Buffer {
  const length: Head = body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]]
  const lines = [...head, ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'),
    Buffer.from(body ?? '')
  ])
}

async function converse (port: number, parts: Bytes[], complete: (parser: ReplyParser) => boolean): Promise<Reply> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  // A server that refuses early resets the connection while we are still writing; only what it sent before counts.
  socket.on('error', () => {})
  for (const part of parts) socket.write(part)
  const parser = new ReplyParser()
  const replied = new Promise<void>(resolve => {
    socket.on('data', chunk => {
      parser.push(chunk)
      if (complete(parser)) resolve()
    })
    socket.once('close', () => {
      if (!parser.done) parser.end()
      resolve()
    })
  })
  try {
    await inTime(replied, 'an HTTP reply')
    return parser.reply
  } finally {
    socket.destroy()
  }
}
