import t, { type Test } from 'tap'
import { Client } from '../matrix/client.js'
import type { Place, Transport } from '../matrix/connection.js'
import { local } from '../matrix/transports.js'
import type { Json } from '../support/specification/message.js'
import { modern, newestLegacy, type Revision } from '../support/specification/revisions.js'
import { validating } from '../support/specification/schema.js'
import { inFrontOf } from '../support/upstreams.js'
import { openFixture, type Way } from './fixture/open.js'
import type { FixtureServer } from './fixture/server.js'
import { calls } from './script/calls.js'
import { contents } from './script/contents.js'
import { answers, capabilities, questions } from './script/questions.js'

const script = { ...contents, ...calls, ...questions }

/** Every era and transport of servers; HTTP+SSE ended with the stateful revisions. */
const behind: Array<{ name: string, way: Way, revision: Revision }> = [
  { name: 'ls', way: 'stdio', revision: newestLegacy },
  { name: 'lh', way: 'HTTP', revision: newestLegacy },
  { name: 'le', way: 'HTTP+SSE', revision: newestLegacy },
  { name: 'lw', way: 'WebSocket', revision: newestLegacy },
  { name: 'ms', way: 'stdio', revision: modern },
  { name: 'mh', way: 'HTTP', revision: modern },
  { name: 'mw', way: 'WebSocket', revision: modern }
]

const inFront = local.filter(({ streams }) => streams)

t.test('one script runs between clients and servers of every era and transport', async t => {
  t.setTimeout(240_000)
  t.comment(validating ? 'every message is checked against the official schemas' : 'MCP_SCHEMA_DIR is not set: messages are not checked against the official schemas')
  const servers = await Promise.all(behind.map(async ({ name, way, revision }) => ({ way, ...await openFixture(t, way, revision, name) })))
  const mcpServers = Object.fromEntries(servers.map(({ server, entry }) => [server.name, { ...entry, sampling: true }]))
  const place = await inFrontOf(t, mcpServers)
  for (const { way, server } of servers) {
    for (const transport of inFront) {
      for (const revision of [newestLegacy, modern]) await runScript(t, place, transport, revision, way, server)
    }
  }
})

async function runScript (t: Test, place: Place, transport: Transport, revision: Revision, way: Way, server: FixtureServer): Promise<void> {
  await t.test(`${revision.version} over ${transport.name} to ${server.revision.version} over ${way}`, async t => {
    const faults: string[] = []
    const client = await connect(t, capabilities, faults)
    const passage = { client, server, way, connect: async (t: Test, own: Json = capabilities) => await connect(t, own, []) }
    for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, passage))
    t.strictSame(faults, [], 'every message to the client was in order')
    t.strictSame(server.log.faults.splice(0), [], 'and every message to the server')
  })

  async function connect (t: Test, capabilities: Json, faults: string[]): Promise<Client> {
    const client = await Client.open(place, transport, revision, { capabilities, answers, faults })
    t.teardown(async () => await client.close())
    return client
  }
}
