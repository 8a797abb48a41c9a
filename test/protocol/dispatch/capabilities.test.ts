import t from 'tap'
import { Capabilities } from '../../../protocol/dispatch/capabilities.js'
import { modern, newestStateful } from '../../../protocol/revisions/table.js'
import { ANONYMOUS_ALL_SCOPES, UNAUTHENTICATED } from '../../../protocol/wire/identity.js'

t.test('each extension is told beside the others, to callers with its scopes', async t => {
  const capabilities = new Capabilities()
  capabilities.declare('tools', () => ({ listChanged: true }))
  t.notOk(capabilities.differ)
  t.strictSame(capabilities.of(modern, UNAUTHENTICATED), { tools: { listChanged: true } })
  capabilities.declareExtension('a/open', { level: 1 })
  t.notOk(capabilities.differ, 'all callers are told of it')
  capabilities.declareExtension('b/guarded', {}, ['admin'])
  t.ok(capabilities.differ)
  t.strictSame(capabilities.of(modern, UNAUTHENTICATED), {
    tools: { listChanged: true },
    extensions: { 'a/open': { level: 1 } }
  })
  t.strictSame(capabilities.of(modern, ANONYMOUS_ALL_SCOPES), {
    tools: { listChanged: true },
    extensions: { 'a/open': { level: 1 }, 'b/guarded': {} }
  })
})

t.test('revisions with sessions are told of extensions below experimental, beside what else is there', async t => {
  const capabilities = new Capabilities()
  capabilities.declare('experimental', ({ stateless }) => stateless ? undefined : { own: {} })
  capabilities.declareExtension('a/open', {})
  t.strictSame(capabilities.of(newestStateful, ANONYMOUS_ALL_SCOPES), { experimental: { own: {}, 'a/open': {} } })
  t.strictSame(capabilities.of(modern, ANONYMOUS_ALL_SCOPES), { extensions: { 'a/open': {} } })
  t.equal(
    capabilities.of(modern, ANONYMOUS_ALL_SCOPES),
    capabilities.of(modern, ANONYMOUS_ALL_SCOPES),
    'one object for all'
  )
})
