import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { WHO, type Who } from '../case.js'
import { openGateway, type Plugin } from '../gateway.js'
import { rawRequest } from '../heads.js'
import { HttpLine } from '../http-line.js'
import type { Fault } from '../oracle.js'
import { API_KEYS, KEYS } from './callers.js'
import fixture from './fixture.js'
import { LogReader } from './log.js'

const MAX_TICKETS = 5_000
const NOTHING = Buffer.alloc(0)

/** A gateway that two callers have keys for, and what is known about it by both. */
export class World {
  readonly port: number
  readonly app: FastifyInstance
  readonly #tickets: Map<string, Who>
  readonly #redeemed = new Set<string>()
  readonly #log: LogReader
  readonly #lines: HttpLine[] = []

  private constructor (app: FastifyInstance, log: LogReader, tickets: Map<string, Who>) {
    this.app = app
    this.#log = log
    this.#tickets = tickets
    this.port = (app.server.address() as AddressInfo).port
  }

  static async open (plugins: Plugin[]): Promise<World> {
    const tickets = new Map<string, Who>()
    const log = new LogReader(text => tickets.has(text))
    // A stream that has nothing to say is left at its first sign of life. Both callers have the same address: first
    // wrong credentials are 401, then 429.
    const app = await openGateway(
      [fixture, ...plugins],
      {
        apiKeys: API_KEYS,
        limits: { ticketLifetime: 20_000, keepAlive: 40, maxWrongCredentials: 300, maxEventLoopDelay: 1_000_000 }
      },
      { loggerInstance: log.logger }
    )
    await app.listen({ port: 0, host: '127.0.0.1' })
    return new World(app, log, tickets)
  }

  /** A connection that is free, or a new one; it is given back when all is well with it. */
  line (): HttpLine {
    return this.#lines.pop() ?? new HttpLine(this.port)
  }

  release (line: HttpLine): void {
    this.#lines.push(line)
  }

  hangUp (): void {
    for (const line of this.#lines.splice(0)) line.close()
  }

  /** A new ticket of a caller; undefined when there are too many. */
  async ticketFor (who: Who): Promise<string | undefined> {
    const line = this.line()
    const reply = await line.exchange([
      rawRequest(
        {
          method: 'POST',
          path: '/ticket',
          headers: [
            ['host', 'localhost'],
            ['authorization', `Bearer ${KEYS[who]}`],
            ['content-length', '0']
          ]
        },
        NOTHING
      )
    ])
    this.release(line)
    return this.learnTicket(reply?.body ?? '', who)
  }

  /** Remembers the ticket in a reply to its owner. */
  learnTicket (body: string, who: Who): string | undefined {
    const ticket = /^\{"ticket":"([\w-]{43})"/.exec(body)?.[1]
    if (ticket === undefined) return undefined
    if (this.#tickets.size > MAX_TICKETS) this.#tickets.clear()
    this.#tickets.set(ticket, who)
    return ticket
  }

  /** The owner of a ticket that was not yet seen to be used. */
  readonly ownerOf = (ticket: string): Who | undefined =>
    this.#redeemed.has(ticket) ? undefined : this.#tickets.get(ticket)

  /** Notes that a ticket let its owner in; false when it had done so before. */
  redeem (ticket: string): boolean {
    if (this.#redeemed.size > MAX_TICKETS) this.#redeemed.clear()
    const first = !this.#redeemed.has(ticket)
    this.#redeemed.add(ticket)
    return first
  }

  /** Ends a session for whichever of them has it. */
  async endSession (id: string): Promise<void> {
    const line = this.line()
    for (const who of WHO) {
      await line.exchange([
        rawRequest(
          {
            method: 'DELETE',
            path: '/mcp',
            headers: [
              ['host', 'localhost'],
              ['mcp-session-id', id],
              ['authorization', `Bearer ${KEYS[who]}`]
            ]
          },
          NOTHING
        )
      ])
    }
    this.release(line)
  }

  takeFaults (): Fault[] {
    return this.#log.take()
  }

  async close (): Promise<void> {
    this.hangUp()
    await this.app.close()
  }
}
