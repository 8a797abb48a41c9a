import t from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import fixture from './fixture.js'
import { modern, newestLegacy, oldest, revisions, type Revision } from '../support/specification/revisions.js'
import { schemaFaults, validating } from '../support/specification/schema.js'
import { runScript } from './run-script.js'
import { transports } from './transports.js'

t.test('the check against the official schemas finds what a revision does not allow', async t => {
  const tool = { name: 'a', inputSchema: { type: 'object' }, title: 'A' }
  const found = (revision: Revision, result: object) => schemaFaults({ jsonrpc: '2.0', id: 1, result: { tools: [tool], ...result } }, revision, 'tools/list').length > 0
  t.equal(found(newestLegacy, {}), false)
  t.equal(found(oldest, {}), validating, 'a title before there were titles')
  t.equal(found(modern, {}), validating, 'a result without a type')
  t.equal(found(modern, { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }), false)
})

t.test('the same script runs over every transport in every revision', async t => {
  t.setTimeout(120_000)
  t.comment(validating ? 'every message is checked against the official schemas' : 'MCP_SCHEMA_DIR is not set: messages are not checked against the official schemas')
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2 })
  for (const transport of transports) {
    // What a process of its own adds to stdio does not depend on the revision, so one of each era is enough.
    for (const revision of transport.costly ? [newestLegacy, modern] : revisions) await runScript(t, place, transport, revision)
  }
})
