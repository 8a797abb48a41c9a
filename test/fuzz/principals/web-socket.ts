import type { Socket } from 'node:net'
import { frame, OPCODE, parseFrame } from '../../support/websocket-client.js'
import { connected, hangUp } from '../sockets.js'
import { Wait } from '../waiting.js'

/** A WebSocket of one caller, without a library on this side. */
export class WebSocketLine {
  /** What the server said before anything else, until the blank line. */
  head = ''
  /** The code it closed with. */
  code: number | undefined
  gone = false
  readonly #socket: Socket
  readonly #onText: (text: string) => void
  #unread = Buffer.alloc(0)
  #wait: Wait | undefined

  private constructor (socket: Socket, onText: (text: string) => void) {
    this.#socket = socket
    this.#onText = onText
    socket.on('data', chunk => { this.#unread = Buffer.concat([this.#unread, chunk]); this.#read() })
    socket.once('close', () => { this.gone = true; this.#wait?.look() })
  }

  /** Settles when the server has said whether it upgrades, or nothing. */
  static async open (port: number, request: Buffer, onText: (text: string) => void): Promise<WebSocketLine> {
    const line = new WebSocketLine(await connected(port), onText)
    line.#socket.write(request)
    await line.until(() => line.head !== '')
    return line
  }

  get upgraded (): boolean {
    return this.head.startsWith('HTTP/1.1 101')
  }

  send (payload: Buffer | string): void {
    if (this.#socket.writable) this.#socket.write(frame({ opcode: OPCODE.text, payload }))
  }

  /** Waits for something that is looked at whenever the server says something. */
  async until (holds: () => boolean, ms?: number): Promise<boolean> {
    this.#wait = new Wait(() => holds() || this.gone, ms)
    return await this.#wait.promise
  }

  async close (): Promise<void> {
    if (!this.gone) hangUp(this.#socket)
    await this.until(() => false)
  }

  #read (): void {
    if (this.head === '') this.#readHead()
    for (let found = this.upgraded ? parseFrame(this.#unread) : undefined; found !== undefined; found = parseFrame(this.#unread)) {
      this.#unread = this.#unread.subarray(found.size)
      if (found.opcode === OPCODE.text) this.#onText(found.payload.toString())
      if (found.opcode === OPCODE.close) this.#end(found.payload)
    }
    this.#wait?.look()
  }

  #readHead (): void {
    const end = this.#unread.indexOf('\r\n\r\n')
    if (end === -1) return
    this.head = this.#unread.toString('latin1', 0, end)
    this.#unread = this.#unread.subarray(end + 4)
  }

  #end (payload: Buffer): void {
    this.code = payload.length < 2 ? 1005 : payload.readUInt16BE(0)
    this.#socket.end(frame({ opcode: OPCODE.close, payload }))
  }
}
