import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { Client, type Answers, type ClientOptions } from './client.js'
import type { Revision } from '../support/specification/revisions.js'
import type { Place, Transport } from './connection.js'

/** One square of the matrix: a way in, a revision, and a client of that kind. */
export interface Cell {
  transport: Transport
  revision: Revision
  client: Client
  /** What the server must not have done, to any client of this cell. */
  faults: string[]
  /** One more client of the same kind, closed when the test ends. */
  connect: (t: Test, options?: ClientOptions) => Promise<Client>
}

/** One part of the script; it knows neither transports nor revisions, only what they can do. */
export type Chapter = (t: Test, cell: Cell) => Promise<void>

/** What the clients of these tests can be asked. */
export const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} }

const answers: Answers = {
  'roots/list': () => ({ roots: [{ uri: 'file:///home', name: 'home' }, { uri: 'file:///work' }] }),
  'sampling/createMessage': () => ({ role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'test' }),
  'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada' } })
}

/** `common` holds for all clients of the cell. */
export async function openCell (
  t: Test,
  place: Place,
  transport: Transport,
  revision: Revision,
  common: ClientOptions = {}
): Promise<Cell> {
  const faults: string[] = []
  return { transport, revision, client: await connect(t), faults, connect }

  async function connect (t: Test, options?: ClientOptions): Promise<Client> {
    const all = { capabilities, answers, faults, ...common, ...options }
    const client = await Client.open(place, transport, revision, all)
    t.teardown(async () => await client.close())
    return client
  }
}

/** A name that no other test uses. */
export const unique = (what: string): string => `${what}_${randomUUID()}`
