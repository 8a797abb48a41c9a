import { connect, type Socket } from 'node:net'
import { inTime } from './wait.js'

export type Bytes = string | Uint8Array

export interface Reply {
  /** 0 when the connection was closed without a word. */
  status: number
  headers: Map<string, string>
  body: string
}

export type Head = Array<[name: string, value: string]>

/** Sends exactly these bytes, however wrong they are, and reads one HTTP reply. */
export async function exchange (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, parseReply)
}

/** The same, without waiting for the body: streams have no end. */
export async function headOf (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, bytes => bytes.includes('\r\n\r\n') ? partial(bytes) : undefined)
}

export async function statusOf (port: number, ...parts: Bytes[]): Promise<number> {
  return (await headOf(port, ...parts)).status
}

/** The same, where the server has to hang up afterwards. */
export async function lastExchange (port: number, ...parts: Bytes[]): Promise<Reply> {
  return await converse(port, parts, () => undefined)
}

/** The bytes of a request as a well-behaved client would send it, with these header lines in this order. */
export function request (method: string, target: string, head: Head, body?: Bytes): Buffer {
  const length: Head = body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]]
  const lines = [...head, ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), Buffer.from(body ?? '')])
}

type Complete = (bytes: Buffer) => Reply | undefined

async function converse (port: number, parts: Bytes[], complete: Complete): Promise<Reply> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  // A server that refuses early resets the connection while we are still writing; what it said before is what counts.
  socket.on('error', () => {})
  for (const part of parts) socket.write(part)
  try {
    return await inTime(readReply(socket, complete), 'an HTTP reply')
  } finally {
    socket.destroy()
  }
}

async function readReply (socket: Socket, complete: Complete): Promise<Reply> {
  return await new Promise(resolve => {
    let bytes = Buffer.alloc(0)
    socket.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk])
      const reply = complete(bytes)
      if (reply !== undefined) resolve(reply)
    })
    socket.once('close', () => resolve(parseReply(bytes) ?? partial(bytes)))
  })
}

/** Undefined while the reply is not complete. */
function parseReply (bytes: Buffer): Reply | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const { status, headers } = parseHead(bytes.toString('latin1', 0, end))
  const rest = bytes.subarray(end + 4)
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunk(rest) : take(rest, Number(headers.get('content-length') ?? 0))
  return body === undefined ? undefined : { status, headers, body: body.toString() }
}

function partial (bytes: Buffer): Reply {
  const [head = '', body = ''] = bytes.toString().split('\r\n\r\n')
  return { ...parseHead(head), body }
}

function parseHead (text: string): Pick<Reply, 'status' | 'headers'> {
  const [first = '', ...lines] = text.split('\r\n')
  const headers = new Map(lines.map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  return { status: Number(first.split(' ')[1] ?? 0), headers }
}

const take = (bytes: Buffer, length: number): Buffer | undefined => bytes.length < length ? undefined : bytes.subarray(0, length)

function unchunk (bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(parts)
    if (bytes.length < line + 2 + size + 2) return undefined
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}
