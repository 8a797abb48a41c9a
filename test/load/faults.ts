import { once } from 'node:events'
import { breaks } from './breaks.js'
import { openSocket } from './transports/websocket.js'
import type { Gateway } from './gateway.js'
import { HttpConnection } from '../support/http-connection.js'

const BAD = '{"jsonrpc":"2.0","id":'

/** Clients that break off or send nonsense. */
export class Faults {
  made = 0
  /** Nonsense that was not refused. */
  readonly wrong: string[] = []
  readonly #gateway: Gateway
  readonly #under = new Set<Promise<void>>()
  readonly #kinds: Array<() => Promise<void>>

  constructor (gateway: Gateway) {
    this.#gateway = gateway
    const cut = Object.values(breaks).map(kind => async () => await kind(this.#gateway, 1, `fault-${this.made}`))
    this.#kinds = [
      ...cut,
      async () => await this.#badPost('/mcp'),
      async () => await this.#badPost('/message'),
      async () => await this.#badFrame()
    ]
  }

  next (turn: number): void {
    this.made++
    const fault = (this.#kinds[turn % this.#kinds.length] as () => Promise<void>)()
      .catch((error: Error) => { this.wrong.push(error.message) })
      .finally(() => this.#under.delete(fault))
    this.#under.add(fault)
  }

  /** One of each kind. */
  async each (): Promise<void> {
    for (const kind of this.#kinds) await kind()
  }

  async over (): Promise<void> {
    await Promise.all(this.#under)
  }

  async #badPost (path: string): Promise<void> {
    const connection = new HttpConnection(this.#gateway.port)
    const { status, body } = await connection.exchange({ method: 'POST', path, body: BAD })
    if (status !== 400) this.wrong.push(`${path}: ${status} ${body}`)
    connection.socket.destroy()
  }

  async #badFrame (): Promise<void> {
    const { socket } = await openSocket(this.#gateway.port)
    socket.send(BAD)
    const [answer] = await once(socket, 'message') as [Buffer]
    if (!String(answer).includes('-32700')) this.wrong.push(String(answer))
    socket.terminate()
  }
}
