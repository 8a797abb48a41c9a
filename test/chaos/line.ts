import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { inTime } from '../support/wait.js'
import type { Bytes } from '../support/http-client.js'

/** A connection with nothing between us and the socket. */
export class Line {
  readonly socket: Socket
  #received = ''
  #wake = (): void => {}

  constructor (port: number, from = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => { this.#received += chunk.toString('latin1'); this.#wake() })
    this.socket.once('close', () => this.#wake())
  }

  static async open (port: number, from?: string): Promise<Line> {
    const line = new Line(port, from)
    await inTime(once(line.socket, 'connect'), 'a connection', 30_000)
    return line
  }

  get received (): string {
    return this.#received
  }

  get closed (): boolean {
    return this.socket.closed
  }

  send (bytes: Bytes): void {
    this.socket.write(bytes)
  }

  /** Waits until this text was received; gives everything up to its end, and forgets it. */
  async until (what: string, ms = 30_000): Promise<string> {
    for (;;) {
      const at = this.#received.indexOf(what)
      if (at !== -1) {
        const text = this.#received.slice(0, at + what.length)
        this.#received = this.#received.slice(at + what.length)
        return text
      }
      if (this.socket.destroyed) {
        throw new Error(
          `the connection ended before ${JSON.stringify(what)} came, after ${JSON.stringify(this.#received.slice(0, 200))}`
        )
      }
      await inTime(new Promise<void>(resolve => { this.#wake = resolve }), JSON.stringify(what), ms)
    }
  }

  /** Gone without a word: the other side is sent a reset. */
  reset (): void {
    this.socket.resetAndDestroy()
  }
}
