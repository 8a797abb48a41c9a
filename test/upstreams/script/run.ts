import type { Test } from 'tap'
import { Client, type ClientOptions } from '../../matrix/client.js'
import type { Place, Transport } from '../../matrix/connection.js'
import { listAll } from '../../matrix/script/pagination.js'
import type { Json } from '../../support/specification/message.js'
import type { Revision } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import type { Way } from '../fixture/open.js'
import type { FixtureServer } from '../fixture/server.js'
import { calls } from './calls.js'
import { contents } from './contents.js'
import type { Chapter } from './passage.js'
import { answers, capabilities, questions } from './questions.js'

const script: Record<string, Chapter> = { ...contents, ...calls, ...questions }

/** A client in front of the gateway and a server behind it. */
export interface Pair { transport: Transport, revision: Revision, way: Way, server: FixtureServer }

/** Runs every chapter, or some, between a client and a server, whose messages must all be in order. */
export async function runScript (
  t: Test,
  place: Place,
  { transport, revision, way, server }: Pair,
  chapters = script,
  options: ClientOptions = {}
): Promise<void> {
  await t.test(`${revision.version} over ${transport.name} to ${server.revision.version} over ${way}`, async t => {
    const faults: string[] = []
    const client = await connect(t, capabilities, faults)
    const passage = {
      client,
      server,
      way,
      connect: async (t: Test, own: Json = capabilities) => await connect(t, own, [])
    }
    for (const [name, chapter] of Object.entries(chapters)) await t.test(name, async t => await chapter(t, passage))
    t.strictSame(faults, [], 'every message to the client was in order')
    t.strictSame(server.log.faults.splice(0), [], 'and every message to the server')
  })

  async function connect (t: Test, capabilities: Json, faults: string[]): Promise<Client> {
    const client = await Client.open(place, transport, revision, { capabilities, answers, faults, ...options })
    t.teardown(async () => await client.close())
    if (transport.costly) await listed(client, server)
    return client
  }
}

/** A gateway in a process of its own has just begun to start its server. */
async function listed (client: Client, { name }: FixtureServer): Promise<void> {
  for (const [method, member] of [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/templates/list', 'resourceTemplates']
  ] as const) {
    await until(
      async () =>
        (await listAll(client, method, member)).some(({ name: own, uriTemplate }) =>
          String(uriTemplate ?? own).startsWith(name)
        ),
      `${method} of ${name}`
    )
  }
  // The announcement comes before the answer to what is asked after it.
  await client.request('tools/list')
  client.notifications.empty()
}
