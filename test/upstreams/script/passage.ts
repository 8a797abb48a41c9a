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

/** True where the revisions of both sides have it. */
export const haveBoth = ({ client, server }: Passage, feature: 'elicitation' | 'icons'): boolean =>
  client.revision[feature] && server.revision[feature]

/** False where a request of the server has no way to the client: a stateful one needs a stream. */
export const canBeAsked = ({ client }: Passage): boolean => client.revision.modern || client.transport.streams

/** The name that a client calls. */
export const named = ({ server }: Passage, name: string): string => `${server.name}__${name}`

export async function call (passage: Passage, name: string, args: Json = {}, more: Json = {}): Promise<Reply> {
  return await passage.client.call(named(passage, name), args, more)
}
