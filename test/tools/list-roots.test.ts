import t from 'tap'
import { createClient } from '../../app.js'
import { callTool } from '../support/modern.js'
import { gateway } from '../support/gateway.js'

const ROOTS = [{ uri: 'file:///home/user/project', name: 'Project Directory' }, { uri: 'file:///srv' }]
const LISTED = {
  content: [{ type: 'text', text: 'file:///home/user/project (Project Directory)\nfile:///srv' }],
  structuredContent: { roots: ROOTS },
  isError: false
}
const roots = (list: object[]) => ({ capabilities: { roots: {} }, answers: { 'roots/list': () => ({ roots: list }) } })

t.test('the client is asked for its roots', async t => {
  const app = await gateway(t, { http: false })
  const newest = await createClient(app, { protocolVersion: '2025-11-25', ...roots(ROOTS) })
  t.strictSame(await newest.request('tools/call', { name: 'list_roots' }), LISTED)
  const first = await createClient(app, { protocolVersion: '2024-11-05', ...roots(ROOTS) })
  t.strictSame(await first.request('tools/call', { name: 'list_roots' }), { content: LISTED.content })
})

t.test('other members of the roots of a client are left out', async t => {
  const { request } = await createClient(
    await gateway(t, { http: false }),
    roots([{ uri: 'file:///a', _meta: { secret: 1 } }])
  )
  t.strictSame((await request('tools/call', { name: 'list_roots' })).structuredContent, {
    roots: [{ uri: 'file:///a' }]
  })
})

t.test('a client may have none', async t => {
  const { request } = await createClient(await gateway(t, { http: false }), roots([]))
  t.match(await request('tools/call', { name: 'list_roots' }), {
    content: [{ text: 'The client has no roots' }],
    structuredContent: { roots: [] }
  })
})

t.test('a client of 2026-07-28 brings them in a second round', async t => {
  const app = await gateway(t)
  const first = await callTool(app, 'list_roots')
  t.match(first.result, {
    resultType: 'input_required',
    inputRequests: { roots: { method: 'roots/list' } },
    requestState: String
  })
  const second = await callTool(
    app,
    'list_roots',
    {},
    { requestState: first.result.requestState, inputResponses: { roots: { roots: ROOTS } } }
  )
  t.match(second.result, LISTED)
})

t.test('the error for a client without roots names the missing capability', async t => {
  const app = await gateway(t)
  const why = /The client cannot be asked for roots\/list: it did not declare the capability \{"roots":\{\}\}/
  t.match(await (await createClient(app)).request('tools/call', { name: 'list_roots' }), {
    isError: true,
    content: [{ text: why }]
  })
  await t.rejects(
    (await createClient(app, { protocolVersion: '2024-11-05' })).request('tools/call', { name: 'list_roots' }),
    { message: why }
  )
  t.match(await callTool(app, 'list_roots', {}, { capabilities: {} }), {
    error: { code: -32021, data: { requiredCapabilities: { roots: {} } } }
  })
  t.match(
    (
      await app.inject({
        method: 'POST',
        url: '/message',
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_roots' } }
      })
    ).json(),
    { error: { message: /cannot be asked for roots\/list/ } }
  )
})
