import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Inbox, inTime } from './wait.js'
import { request, type Bytes, type Head } from './http-client.js'

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Frame { opcode: number, payload: Bytes, fin?: boolean, rsv1?: boolean, masked?: boolean }

/** The end of a connection, and the code the server gave; 0 when it gave none. */
export class Closed {
  constructor (readonly code: number) {}
}

export interface RawSocket {
  /** What text frames say, and at last a `Closed`. */
  readonly inbox: Inbox<unknown>
  readonly headers: string
  write: (bytes: Bytes) => void
  send: (text: Bytes) => void
  pause: () => void
  close: () => Promise<void>
}

/** The bytes of one frame; every rule of the protocol can be broken. */
export function frame ({ opcode, payload, fin = true, rsv1 = false, masked = true }: Frame): Buffer {
  const body = Buffer.from(payload)
  const first = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode
  const mask = Buffer.from([1, 2, 3, 4])
  const head = Buffer.concat([Buffer.from([first]), declared(body.length, masked)])
  if (!masked) return Buffer.concat([head, body])
  return Buffer.concat([head, mask, body.map((byte, index) => byte ^ (mask[index % 4] as number))])
}

/** A frame header that promises more than will come. */
export function promise (length: bigint): Buffer {
  const head = Buffer.from([0x80 | OPCODE.text, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
  head.writeBigUInt64BE(length, 2)
  return head
}

export function closeFrame (code: number, reason: Bytes = ''): Buffer {
  return frame({ opcode: OPCODE.close, payload: Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]) })
}

export const upgradeHead = (port: number, more: Head = []): Head => [
  ['Host', `127.0.0.1:${port}`], ['Connection', 'Upgrade'], ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'], ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='], ...more
]

/** A WebSocket without any library in between. */
export async function openSocket (port: number, more: Head = [], target = '/mcp'): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  socket.write(request('GET', target, upgradeHead(port, more)))
  const { head, rest } = await inTime(readHead(socket), 'the upgrade')
  if (!head.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${head}`)
  const inbox = readFrames(socket, rest)
  return {
    inbox,
    headers: head,
    write: bytes => { socket.write(bytes) },
    send: text => { socket.write(frame({ opcode: OPCODE.text, payload: text })) },
    pause: () => { socket.pause() },
    close: async () => {
      if (socket.destroyed) return
      socket.destroy()
      await inTime(once(socket, 'close'), 'the end of the socket')
    }
  }
}

function declared (length: number, masked: boolean): Buffer {
  const bit = masked ? 0x80 : 0
  if (length < 126) return Buffer.from([bit | length])
  if (length < 65_536) return Buffer.from([bit | 126, length >> 8, length & 255])
  const long = Buffer.alloc(9)
  long[0] = bit | 127
  long.writeBigUInt64BE(BigInt(length), 1)
  return long
}

async function readHead (socket: Socket): Promise<{ head: string, rest: Buffer }> {
  let bytes = Buffer.alloc(0)
  return await new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', read)
      resolve({ head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + 4) })
    }
    socket.on('data', read)
    socket.once('close', () => reject(new Error('the connection was closed before the upgrade')))
  })
}

function readFrames (socket: Socket, rest: Buffer): Inbox<unknown> {
  const inbox = new Inbox<unknown>()
  let bytes = rest
  let open = true
  const end = (code: number) => {
    if (open) inbox.push(new Closed(code))
    open = false
    socket.destroy()
  }
  const drain = () => {
    for (let found = parseFrame(bytes); found !== undefined; found = parseFrame(bytes)) {
      bytes = bytes.subarray(found.size)
      if (found.opcode === OPCODE.text) inbox.push(JSON.parse(found.payload.toString()))
      if (found.opcode === OPCODE.close) end(found.payload.length < 2 ? 1005 : found.payload.readUInt16BE(0))
    }
  }
  drain()
  socket.on('data', chunk => { bytes = Buffer.concat([bytes, chunk]); drain() })
  socket.once('close', () => end(0))
  return inbox
}

export function parseFrame (bytes: Buffer): { opcode: number, payload: Buffer, size: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes[1] as number
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < head) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < head + length) return undefined
  return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(head, head + length), size: head + length }
}
