import t from 'tap'
import { local } from '../matrix/transports.js'
import { modern, newestLegacy, type Revision } from '../support/specification/revisions.js'
import { validating } from '../support/specification/schema.js'
import { inFrontOf } from '../support/upstreams.js'
import { openFixture, type Way } from './fixture/open.js'
import { runScript } from './script/run.js'

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
  t.comment(
    validating
      ? 'every message is checked against the official schemas'
      : 'MCP_SCHEMA_DIR is not set: messages are not checked against the official schemas'
  )
  const servers = await Promise.all(
    behind.map(async ({ name, way, revision }) => ({ way, ...(await openFixture(t, way, revision, name)) }))
  )
  const mcpServers = Object.fromEntries(servers.map(({ server, entry }) => [server.name, { ...entry, sampling: true }]))
  const place = await inFrontOf(t, mcpServers)
  for (const { way, server } of servers) {
    for (const transport of inFront) {
      for (const revision of [newestLegacy, modern]) await runScript(t, place, { transport, revision, way, server })
    }
  }
})
