import type { Test } from 'tap'
import type { Client } from '../../matrix/client.js'
import type { Json, Reply } from '../../support/specification/message.js'
import type { FixtureServer } from '../fixture/server.js'

/** One way through the gateway: a client in front, a server behind. */
export interface Passage {
  readonly client: Client
  readonly server: FixtureServer
  /** How the server is reached. */
  readonly way: string
  /** One more client of the same kind, whose messages are checked by the test itself. */
  readonly connect: (t: Test, capabilities?: Json) => Promise<Client>
}

/** One part of the script. */
export type Chapter = (t: Test, passage: Passage) => Promise<void>

/** The name that a client calls. */
export const named = ({ server }: Passage, name: string): string => `${server.name}__${name}`

export async function call (passage: Passage, name: string, args: Json = {}, more: Json = {}): Promise<Reply> {
  return await passage.client.call(named(passage, name), args, more)
}
