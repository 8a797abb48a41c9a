import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import WebSocket from 'ws'
import { Inbox, inTime } from './wait.js'
import { request, type Bytes, type Head } from './http-client.js'

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Frame { opcode: number, payload: Bytes, fin?: boolean, rsv1?: boolean, masked?: boolean }

/** The end of a connection, and the code the server gave; 0 when it gave none. */
export class Closed {
  constructor (readonly code: number) {}
}

export interface RawSocket {
  /** The content of text frames, and at last a `Closed`. */
  readonly inbox: Inbox<unknown>
  readonly headers: string
  write: (bytes: Bytes) => void
  send: (text: Bytes) => void
  pause: () => void
  close: () => Promise<void>
}

/** Counts how often ws is told to send a pong in this process, until the test ends, whether or not it can. */
export function countPongs (t: Test): () => number {
  const { pong } = WebSocket.prototype
  let count = 0
  WebSocket.prototype.pong = function (this: WebSocket, ...args: unknown[]) {
    count++
    Reflect.apply(pong, this, args)
  }
  t.teardown(() => { WebSocket.prototype.pong = pong })
  return () => count
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
  return frame({
    opcode: OPCODE.close,
    payload: Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])
  })
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
  const { inbox, head } = await inTime(readFrames(socket), 'the upgrade')
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

/** Settles when the socket is upgraded. */
async function readFrames (socket: Socket): Promise<{ inbox: Inbox<unknown>, head: string }> {
  const inbox = new Inbox<unknown>()
  let open = true
  const end = (code: number) => {
    if (open) inbox.push(new Closed(code))
    open = false
    socket.destroy()
  }
  const reader = new FrameReader((opcode, payload) => {
    if (opcode === OPCODE.text) inbox.push(JSON.parse(payload.toString()))
    if (opcode === OPCODE.close) end(closeCode(payload))
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('data', chunk => {
      reader.push(chunk)
      if (reader.head !== '') resolve()
    })
    socket.once('close', () => {
      end(0)
      reject(new Error('the connection was closed before the upgrade'))
    })
  })
  if (!reader.upgraded) throw new Error(`no upgrade: ${reader.head}`)
  return { inbox, head: reader.head }
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

/** Reads the reply to an upgrade and then the frames behind it, from the bytes of a connection as they come. */
export class FrameReader {
  /** The reply to the upgrade, without the blank line; empty while it is not there. */
  head = ''
  readonly #onFrame: (opcode: number, payload: Buffer) => void
  #unread: Buffer = Buffer.alloc(0)

  constructor (onFrame: (opcode: number, payload: Buffer) => void) {
    this.#onFrame = onFrame
  }

  get upgraded (): boolean {
    return this.head.startsWith('HTTP/1.1 101')
  }

  push (chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk])
    if (this.head === '') this.#readHead()
    if (!this.upgraded) return
    for (let found = parseFrame(this.#unread); found !== undefined; found = parseFrame(this.#unread)) {
      this.#unread = this.#unread.subarray(found.size)
      this.#onFrame(found.opcode, found.payload)
    }
  }

  #readHead (): void {
    const end = this.#unread.indexOf('\r\n\r\n')
    if (end === -1) return
    this.head = this.#unread.toString('latin1', 0, end)
    this.#unread = this.#unread.subarray(end + 4)
  }
}

/** The code in the payload of a close frame; 1005 when it has none. */
export const closeCode = (payload: Buffer): number => payload.length < 2 ? 1005 : payload.readUInt16BE(0)

function parseFrame (bytes: Buffer): { opcode: number, payload: Buffer, size: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes[1] as number
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < head) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < head + length) return undefined
  return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(head, head + length), size: head + length }
}
