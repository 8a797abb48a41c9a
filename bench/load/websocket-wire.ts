import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Message } from './messages.js'
import { noListeners, type Wire } from './wire.js'

const TEXT = 0x81
const PING = 0x89
const PONG = 0x8a
const MASKED = 0x80
const NOTHING = Buffer.alloc(0)

/** A WebSocket that builds its frames beforehand, and of what comes reads only where frames end. */
export class WebSocketWire implements Wire {
  onAnswer = noListeners.onAnswer
  onRead = noListeners.onRead
  onCut = noListeners.onCut
  readonly #socket: Socket
  #rest: Buffer = NOTHING

  private constructor (socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.onCut(new Error('the server closed a WebSocket')))
  }

  static async open (port: number): Promise<WebSocketWire> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.write(`GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`)
    const [head] = await once(socket, 'data') as [Buffer]
    if (!head.toString('latin1', 0, 12).endsWith('101')) {
      throw new Error(`no WebSocket: ${head.toString('latin1', 0, 300)}`)
    }
    return new WebSocketWire(socket)
  }

  frame (message: Message): Buffer {
    return frame(TEXT, Buffer.from(JSON.stringify(message)))
  }

  write (bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  async notify (message: Message): Promise<void> {
    this.write(this.frame(message))
  }

  close (): void {
    this.onCut = noListeners.onCut
    this.#socket.destroy()
  }

  #take (chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    for (let end = endOf(bytes, at); end !== undefined; end = endOf(bytes, at)) {
      this.#hear(bytes, at, end)
      at = end
    }
    this.#rest = bytes.subarray(at)
    this.onRead()
  }

  #hear (bytes: Buffer, start: number, end: number): void {
    const body = start + headLength(bytes, start)
    if (bytes[start] === TEXT) this.onAnswer(end - body, () => bytes.toString('utf8', body, end))
    else if (bytes[start] === PING) this.write(frame(PONG, bytes.subarray(body, end)))
  }
}

/** The mask is all zeroes: valid on the wire, and no work for the client. */
function frame (kind: number, body: Buffer): Buffer {
  const size =
    body.length < 126
      ? [body.length]
      : body.length < 65_536
        ? [126, body.length >> 8, body.length & 255]
        : [127, 0, 0, 0, 0, body.length >>> 24, (body.length >> 16) & 255, (body.length >> 8) & 255, body.length & 255]
  return Buffer.concat([Buffer.from([kind, MASKED | size[0] as number, ...size.slice(1), 0, 0, 0, 0]), body])
}

function headLength (bytes: Buffer, at: number): number {
  const size = bytes[at + 1] as number
  return size < 126 ? 2 : size === 126 ? 4 : 10
}

/** Where the frame that begins there ends, when all of it is here. */
function endOf (bytes: Buffer, at: number): number | undefined {
  if (bytes.length < at + 2) return undefined
  const head = headLength(bytes, at)
  if (bytes.length < at + head) return undefined
  const size =
    head === 2
      ? (bytes[at + 1] as number)
      : head === 4
        ? bytes.readUInt16BE(at + 2)
        : Number(bytes.readBigUInt64BE(at + 2))
  return bytes.length < at + head + size ? undefined : at + head + size
}
