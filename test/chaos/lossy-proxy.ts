import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A network that loses connections as a client's network does: the client notices at once, the server not at all. */
export class LossyProxy {
  readonly #server: Server
  readonly #open = new Map<Socket, Socket>()
  readonly #sockets = new Set<Socket>()

  constructor (to: number) {
    this.#server = createServer({ noDelay: true }, client => {
      const server = connect({ port: to, host: '127.0.0.1', noDelay: true })
      this.#open.set(client, server)
      for (const socket of [client, server]) {
        this.#sockets.add(socket)
        socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
      }
      client.pipe(server).pipe(client)
      // What the client closes by itself is closed on both sides, unless its connection was cut before.
      client.once('close', () => { if (this.#open.delete(client)) server.destroy() })
      server.once('close', () => { if (this.#open.delete(client)) client.destroy() })
    })
  }

  static async start (to: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(to)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url (): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resets the client's side of every connection; the server's side stays open, and what it sends is not read. */
  cut (): void {
    for (const [client, server] of this.#open) {
      this.#open.delete(client)
      server.unpipe(client)
      client.unpipe(server)
      server.pause()
      client.resetAndDestroy()
    }
  }

  async stop (): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
