import { Client } from './client.js'
import { transportNames, type TransportName } from './transports/all.js'
import type { Gateway } from './gateway.js'
import type { Ledger } from './ledger.js'
import { mixed } from './questions.js'

const STEADY = 3
/** Calls of one of the clients that connect for a short time. */
const VISIT = 5
/** A client with so many calls under way makes no more: the machine is too slow for what is wanted. */
const TOO_MANY = 200

const visitable = transportNames.filter(kind => kind !== 'stdio')

/** Clients that stay, and clients that come and go. All of them behave. */
export class Crowd {
  visits = 0
  /** Calls that were due, but not made. */
  heldBack = 0
  readonly #gateway: Gateway
  readonly #steady: Client[] = []
  readonly #visiting = new Set<Promise<void>>()
  readonly #past = { answered: 0, refused: 0, lost: 0, wrong: 0, faults: [] as string[] }

  constructor (gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Opens the clients that stay, besides the one that is there already. */
  async settle (first: Client): Promise<void> {
    const kinds = Array.from({ length: STEADY }, () => visitable).flat()
    this.#steady.push(
      first,
      ...(await Promise.all(
        kinds.map(async (kind, index) => await Client.open(this.#gateway, kind, `steady-${index}`))
      ))
    )
  }

  /** Makes so many calls from the clients that stay connected. */
  call (count: number, turn: number): void {
    for (let n = 0; n < count; n++) {
      const client = this.#steady[(turn * Math.ceil(count) + n) % this.#steady.length] as Client
      if (client.ledger.open >= TOO_MANY) this.heldBack++
      else client.ask(mixed)
    }
  }

  come (turn: number): void {
    const visit = this.visit(visitable[turn % visitable.length] as TransportName).finally(() =>
      this.#visiting.delete(visit)
    )
    this.#visiting.add(visit)
  }

  /** Comes, makes some calls, and goes. */
  async visit (kind: TransportName): Promise<void> {
    const client = await Client.open(this.#gateway, kind, `visit-${this.visits++}`)
    await client.drive(VISIT, mixed)
    await client.connection.close()
    this.#remember(client.ledger)
  }

  /** Everybody goes, except for the one on stdio, who cannot come back. */
  async leave (): Promise<void> {
    await Promise.all(this.#visiting)
    await Promise.all(this.#steady.map(async client => {
      await client.drive(1, mixed)
      if (client.kind !== 'stdio') await client.connection.close()
      this.#remember(client.ledger)
    }))
    this.#steady.length = 0
  }

  get answered (): number { return this.#sum('answered', ledger => ledger.answered) }
  get refused (): number { return this.#sum('refused', ledger => ledger.refused) }
  get wrong (): number { return this.#sum('wrong', ledger => ledger.doubled + ledger.misrouted) }
  get lost (): number { return this.#past.lost }
  get faults (): string[] { return this.#past.faults }

  #sum (name: 'answered' | 'refused' | 'wrong', count: (ledger: Ledger) => number): number {
    return this.#steady.reduce((sum, { ledger }) => sum + count(ledger), this.#past[name])
  }

  #remember ({ answered, refused, doubled, misrouted, open, faults }: Ledger): void {
    this.#past.answered += answered
    this.#past.refused += refused
    this.#past.wrong += doubled + misrouted
    this.#past.lost += open
    this.#past.faults.push(...faults)
  }
}
