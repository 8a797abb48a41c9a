import t from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import fixture from './fixture.js'
import { modern, newestLegacy, oldest, revisions, type Revision } from '../support/specification/revisions.js'
import { schemaFaults, validating } from '../support/specification/schema.js'
import { runScript, script } from './run-script.js'
import { watching } from './script/watching.js'
import { transports } from './transports.js'

// What a process of its own adds to stdio does not depend on the revision, so one of each era is enough.
const squares = transports.flatMap(transport =>
  (transport.costly ? [newestLegacy, modern] : revisions).map(revision => ({ transport, revision }))
)

t.test('the check against the official schemas finds what a revision does not allow', async t => {
  const tool = { name: 'a', inputSchema: { type: 'object' }, title: 'A' }
  const found = (revision: Revision, result: object) =>
    schemaFaults({ jsonrpc: '2.0', id: 1, result: { tools: [tool], ...result } }, revision, 'tools/list').length > 0
  t.equal(found(newestLegacy, {}), false)
  t.equal(found(oldest, {}), validating, 'a title before there were titles')
  t.equal(found(modern, {}), validating, 'a result without a type')
  t.equal(found(modern, { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }), false)
})

t.test('the same script runs over every transport in every revision', async t => {
  t.setTimeout(120_000)
  t.comment(
    validating
      ? 'every message is checked against the official schemas'
      : 'MCP_SCHEMA_DIR is not set: messages are not checked against the official schemas'
  )
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2 })
  for (const { transport, revision } of squares) await runScript(t, place, transport, revision, script)
})

t.test('a watcher is told the same over every transport in every revision', async t => {
  // A watcher waits for what is told each second, so those of different gateways do it at the same time.
  t.jobs = transports.length
  for (const each of transports) {
    void t.test(each.name, { buffered: true }, async t => {
      const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2 })
      for (const { transport, revision } of squares) {
        if (transport === each) await runScript(t, place, transport, revision, watching)
      }
    })
  }
})
