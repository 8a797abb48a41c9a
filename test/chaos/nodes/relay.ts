import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Passes TCP connections on to a port, which can be changed; it can be cut, or pass nothing on. */
export class Relay {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #to: number
  #state: 'passing' | 'silent' | 'cut' = 'passing'

  private constructor (to: number) {
    this.#to = to
    this.#server = createServer(client => this.#connect(client))
  }

  static async start (to: number): Promise<Relay> {
    const relay = new Relay(to)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get url (): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Ends all connections; new ones lead to that port. */
  pointAt (port: number): void {
    this.#to = port
    this.#reset()
  }

  /** Passes nothing on, as a network does that loses everything: connections stay open. */
  silence (): void {
    this.#state = 'silent'
    for (const socket of this.#open) socket.unpipe()
  }

  /** Ends all connections and every new one. */
  cut (): void {
    this.#state = 'cut'
    this.#reset()
  }

  mend (): void {
    this.#state = 'passing'
    this.#reset()
  }

  async stop (): Promise<void> {
    this.#reset()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  #connect (client: Socket): void {
    this.#watch(client)
    if (this.#state === 'cut') client.destroy()
    if (this.#state !== 'passing') return
    const server = connect(this.#to, '127.0.0.1')
    this.#watch(server)
    client.pipe(server).pipe(client)
    client.once('close', () => server.destroy())
    server.once('close', () => client.destroy())
  }

  #watch (socket: Socket): void {
    this.#open.add(socket)
    socket.on('error', () => {}).once('close', () => this.#open.delete(socket))
  }

  #reset (): void {
    for (const socket of this.#open) socket.destroy()
  }
}
