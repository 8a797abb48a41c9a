import type { Socket } from 'node:net'
import { closeCode, frame, FrameReader, OPCODE } from '../../support/websocket-client.js'
import { connected, hangUp } from '../sockets.js'
import { Wait } from '../waiting.js'

/** A WebSocket of one caller, without a library on this side. */
export class WebSocketLine {
  /** The code it closed with. */
  code: number | undefined
  gone = false
  readonly #socket: Socket
  readonly #onText: (text: string) => void
  readonly #reader = new FrameReader((opcode, payload) => this.#receive(opcode, payload))
  #wait: Wait | undefined

  private constructor (socket: Socket, onText: (text: string) => void) {
    this.#socket = socket
    this.#onText = onText
    socket.on('data', chunk => { this.#reader.push(chunk); this.#wait?.look() })
    socket.once('close', () => { this.gone = true; this.#wait?.look() })
  }

  /** Settles when the server has accepted or refused the upgrade, or was silent. */
  static async open (port: number, request: Buffer, onText: (text: string) => void): Promise<WebSocketLine> {
    const line = new WebSocketLine(await connected(port), onText)
    line.#socket.write(request)
    await line.until(() => line.head !== '')
    return line
  }

  /** The reply of the server to the upgrade. */
  get head (): string {
    return this.#reader.head
  }

  get upgraded (): boolean {
    return this.#reader.upgraded
  }

  send (payload: Buffer | string): void {
    if (this.#socket.writable) this.#socket.write(frame({ opcode: OPCODE.text, payload }))
  }

  /** Waits for a condition that is checked whenever the server sends something. */
  async until (holds: () => boolean, ms?: number): Promise<boolean> {
    this.#wait = new Wait(() => holds() || this.gone, ms)
    return await this.#wait.promise
  }

  async close (): Promise<void> {
    if (!this.gone) hangUp(this.#socket)
    await this.until(() => false)
  }

  #receive (opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.text) this.#onText(payload.toString())
    if (opcode !== OPCODE.close) return
    this.code = closeCode(payload)
    this.#socket.end(frame({ opcode: OPCODE.close, payload }))
  }
}
