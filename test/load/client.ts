import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Question, Transport } from './transports/transport.js'
import { transports, type TransportName } from './transports/all.js'
import type { Gateway } from './gateway.js'
import { Ledger } from './ledger.js'

/** A server that answers nothing for so long has lost what is open. */
const SILENCE = 60_000

/** A connection, and who drives calls through it. */
export class Client {
  readonly kind: string
  readonly connection: Connection
  readonly ledger: Ledger
  /** How long each call took, in milliseconds. */
  readonly times: number[] = []
  /** How many calls it may have under way. */
  readonly depth: number
  #settled: () => void = () => {}

  private constructor (kind: string, connection: Connection, ledger: Ledger, depth: number) {
    this.kind = kind
    this.connection = connection
    this.ledger = ledger
    this.depth = depth
  }

  static async open (gateway: Gateway, kind: TransportName, name: string): Promise<Client> {
    return await Client.over<Gateway>(transports[kind], gateway, kind, name)
  }

  /** A client of another transport, or of something else than a gateway. */
  static async over<Target> (
    { open, depth }: Transport<Target>,
    target: Target,
    kind: string,
    name: string
  ): Promise<Client> {
    const ledger = new Ledger(name, (_id, ms) => client?.settled(ms))
    const connection = await open(target, ledger)
    const client: Client | undefined = new Client(kind, connection, ledger, depth)
    return client
  }

  settled (ms: number): void {
    this.times.push(ms)
    this.#settled()
  }

  ask (question: (mark: string, id: number) => Question): void {
    const { id, mark } = this.ledger.ask()
    this.connection.send(id, question(mark, id))
  }

  /**
   * Makes so many calls, with as many under way as the connection allows. Settles when all are answered, or will never
   * be.
   */
  async drive (calls: number, question: (mark: string, id: number) => Question, timeout = SILENCE): Promise<void> {
    let left = calls
    let open = 0
    const next = () => {
      for (; left > 0 && open < this.depth; left--, open++) this.ask(question)
    }
    const done = new Promise<void>(resolve => {
      this.#settled = () => {
        open--
        next()
        if (open === 0) resolve()
      }
    })
    next()
    const over = new AbortController()
    await Promise.race([done, this.connection.over, this.#silence(timeout, over.signal)])
    over.abort()
  }

  async #silence (timeout: number, signal: AbortSignal): Promise<void> {
    for (let received = -1; received !== this.times.length && !signal.aborted;) {
      received = this.times.length
      await sleep(timeout, undefined, { signal }).catch(() => {})
    }
  }
}
