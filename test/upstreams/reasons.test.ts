import t from 'tap'
import { createClient } from '../../app.js'
import { Peer } from '../../protocol/peer/peer.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { explainTo, withReason } from '../../upstreams/reasons.js'
import { gateway } from '../support/gateway.js'

const mcpServers = { broken: { command: process.execPath, args: ['-e', 'process.exit(9)'] } }

t.test(
  'the error of a call to a server that failed has the reason for a caller in the same process, and for operators',
  async t => {
    const app = await gateway(t, {
      plugins: [],
      tools: false,
      mcpServers,
      limits: { upstreamRestartDelay: 60_000, upstreamRestartDelayMax: 60_000 }
    })
    await app.ready()
    const local = await createClient(app)
    for (let call = 0; call < 2; call++) {
      await t.rejects(local.request('tools/call', { name: 'broken__any' }), {
        message: /broken is not available: it exited with code 9/
      })
    }
    const admin = await createClient(app, { identity: { principal: 'ada', scopes: new Set(['admin']) } })
    await t.rejects(admin.request('tools/call', { name: 'broken__any' }), { message: /it exited with code 9/ })
    const other = await createClient(app, { identity: { principal: 'bob', scopes: new Set(['mcp']) } })
    await t.rejects(other.request('tools/call', { name: 'broken__any' }), {
      message: /the reason is in the log and in \/health/
    })
  }
)

t.test('over HTTP only anonymous callers on this machine see a reason, and none behind a proxy', t => {
  const error = withReason(new Error('without'), new Error('with'))
  const sees = (identity: Identity, forwarded = false) =>
    (explainTo({ peer: new Peer({ identity }), identity, forwarded }, error) as Error).message === 'with'
  t.ok(sees({ principal: undefined, scopes: 'all', address: '127.0.0.1' }))
  t.notOk(sees({ principal: undefined, scopes: 'all', address: '127.0.0.1' }, true))
  t.notOk(sees({ principal: undefined, scopes: 'all', address: '192.0.2.1' }))
  t.notOk(sees({ principal: undefined, scopes: 'all' }))
  t.notOk(sees({ principal: 'ada', scopes: new Set(['mcp']), address: '127.0.0.1' }))
  t.ok(sees({ principal: 'ada', scopes: new Set(['admin']) }))
  t.equal(
    explainTo(
      { peer: new Peer({ transport: 'stdio' }), identity: { principal: undefined, scopes: 'all' }, forwarded: false },
      'text'
    ),
    'text'
  )
  t.end()
})
