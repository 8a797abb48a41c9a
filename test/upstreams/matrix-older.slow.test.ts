import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Transport } from '../matrix/connection.js'
import { openCommand } from '../matrix/connections/stdio.js'
import { local, transports } from '../matrix/transports.js'
import { folder } from '../support/process.js'
import type { Json } from '../support/specification/message.js'
import { modern, newestLegacy, oldest, revisions, type Revision } from '../support/specification/revisions.js'
import { inFrontOf } from '../support/upstreams.js'
import { openFixture, type Way } from './fixture/open.js'
import type { FixtureServer } from './fixture/server.js'
import { runScript } from './script/run.js'

interface Front { transport: Transport, revision: Revision }
interface Served { way: Way, server: FixtureServer, entry: Json }

/** Each revision before the newest stateful one, with the transports it has; WebSocket is in none and taken in all. */
const older = revisions.filter(revision => revision !== newestLegacy && !revision.modern)
const exists = (name: string, { version }: Revision): boolean =>
  version === oldest.version ? !/HTTP$|mcp/.test(name) : name !== 'HTTP+SSE'

const inFront: Front[] = older.flatMap(revision =>
  local.filter(({ name, streams }) => streams && exists(name, revision)).map(transport => ({ transport, revision }))
)
const behind = older.flatMap(revision =>
  (['stdio', 'HTTP', 'HTTP+SSE', 'WebSocket'] as const)
    .filter(way => exists(way, revision))
    .map(way => ({ way, revision }))
)
const message: Front[] = transports
  .filter(({ name }) => name === '/message')
  .flatMap(transport => revisions.map(revision => ({ transport, revision })))
const newest: Front[] = local
  .filter(({ streams }) => streams)
  .map(transport => ({ transport, revision: transport.http ? modern : newestLegacy }))

t.test('the script runs with the revisions before, over POST /message and through the command', async t => {
  t.setTimeout(240_000)
  const old = await Promise.all(
    behind.map(async ({ way, revision }, index) => await serve(t, way, revision, `old${index}`))
  )
  const [stateless, stateful] = [await serve(t, 'HTTP', modern, 'mh'), await serve(t, 'stdio', newestLegacy, 'ls')]
  const place = await inFrontOf(
    t,
    Object.fromEntries([...old, stateless, stateful].map(({ server, entry }) => [server.name, entry]))
  )
  // One revision further, so that the two sides differ.
  for (const [index, client] of inFront.entries()) {
    await runScript(t, place, { ...client, ...(old[(index + 3) % old.length] as Served) })
  }
  for (const [index, server] of old.entries()) {
    await runScript(t, place, { ...(newest[index % newest.length] as Front), ...server })
  }
  for (const client of inFront.filter(({ transport }) => transport.name === 'stdio')) {
    await runScript(t, place, { ...client, ...stateless })
  }
  for (const client of message) {
    await runScript(t, place, { ...client, ...(client.revision.modern ? stateful : stateless) })
  }
  await runScript(t, place, { transport: await command(t, stateful), revision: modern, ...stateful })
  await runScript(t, place, { transport: await command(t, stateless), revision: newestLegacy, ...stateless })
})

/** The gateway in a process of its own, in front of one server, the way a desktop client launches it. */
async function command (t: Test, { server, entry }: Served): Promise<Transport> {
  const file = join(
    await folder(t, { 'client.json': JSON.stringify({ mcpServers: { [server.name]: entry } }) }),
    'client.json'
  )
  const [likewise] = transports.filter(({ costly }) => costly) as [Transport]
  return { ...likewise, open: async (_place, receive) => await openCommand(['--mcp-config', file], receive) }
}

async function serve (t: Test, way: Way, revision: Revision, name: string): Promise<Served> {
  const { server, entry } = await openFixture(t, way, revision, name)
  return { way, server, entry: { ...entry, sampling: true } }
}
