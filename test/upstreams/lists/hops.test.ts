import t from 'tap'
import { createClient } from '../../../app.js'
import { Lists } from '../../../upstreams/lists/lists.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { FakeUpstream, LIMITS, type Script } from './fake-upstream.js'
import { listed } from './served.js'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

t.test('what is listed of an upstream is withdrawn when its list turns out to have come from here', async t => {
  const app = await gateway(t, { tools: false, plugins: [] })
  let hops = ['far']
  const script: Script = {
    hops,
    answers: { 'tools/list': () => ({ tools: [tool('x')], _meta: { 'patchbay/hops': hops } }) }
  }
  const [ring, plain] = [new FakeUpstream('ring', script), new FakeUpstream('plain', { tools: [tool('y')] })]
  const lists = new Lists(app.mcp, app.mcp.store.values, LIMITS, { warn: () => {} }, alias => `hop-${alias}`)
  t.teardown(() => lists.close())
  await lists.configure([ring, plain])
  const connection = ring.connect()
  plain.connect()
  const client = await createClient(app)
  t.teardown(() => client.close())
  await until(async () => (await listed(client, 'tools/list', 'tools', 'name')).join() === 'plain__y,ring__x')
  const mark = { _meta: { 'patchbay/gateway': true } }
  t.strictSame(
    (await client.request('tools/list', mark))['_meta'],
    { 'patchbay/hops': ['hop-ring', 'far'] },
    'gateways in front are told all hops, but not those to servers of others'
  )
  t.strictSame(connection.of('tools/list')[0]?.params, mark)
  t.strictSame(plain.connection.of('tools/list')[0]?.params, {}, 'servers of others get no mark with lists')

  let why: Error | undefined
  connection.onClose(error => { why = error })
  hops = ['far', 'hop-ring']
  connection.emit('notifications/tools/list_changed')
  await until(async () => (await listed(client, 'tools/list', 'tools', 'name')).join() === 'plain__y')
  t.match(why?.message, /^it is a Patchbay gateway that has this gateway as an upstream/)
  t.strictSame((await client.request('tools/list', mark))['_meta'], { 'patchbay/hops': ['hop-ring'] })
  await until(
    async () => JSON.stringify(await app.mcp.store.values.get('upstream-lists', 'ring')).includes('"tools":[]'),
    'the stored list'
  )
})

t.test('hops that are no ids are ignored, and so are too many', async t => {
  const app = await gateway(t, { tools: false, plugins: [] })
  const hops = [1, null, 'x'.repeat(65), 'near', ...Array.from({ length: 2_000 }, (_, index) => `h${index}`)]
  const ring = new FakeUpstream('ring', {
    hops: [],
    answers: { 'tools/list': () => ({ tools: [tool('x')], _meta: { 'patchbay/hops': hops } }) }
  })
  const lists = new Lists(app.mcp, app.mcp.store.values, LIMITS, { warn: () => {} }, alias => `hop-${alias}`)
  t.teardown(() => lists.close())
  await lists.configure([ring])
  ring.connect()
  await until(() => !lists.statusOf('ring').stale)
  const client = await createClient(app)
  t.teardown(() => client.close())
  const marked = await client.request('tools/list', { _meta: { 'patchbay/gateway': true } })
  const told = (marked['_meta'] as Record<string, string[]>)['patchbay/hops'] ?? []
  t.strictSame(told.slice(0, 3), ['hop-ring', 'near', 'h0'])
  t.equal(told.length, 998)
})

t.test('no more than 1,000 hops of an upstream are kept, over many pages and connections', async t => {
  const app = await gateway(t, { tools: false, plugins: [] })
  let count = 0
  const next = (): string[] => Array.from({ length: 600 }, () => `h${count++}`)
  const page = ({ cursor }: Record<string, unknown>) => ({
    tools: [tool(`x${String(cursor)}`)],
    ...(cursor === '4' ? {} : { nextCursor: String(Number(cursor ?? 0) + 1) }),
    _meta: { 'patchbay/hops': next() }
  })
  const script: Script = { hops: next(), answers: { 'tools/list': page } }
  const ring = new FakeUpstream('ring', script)
  const lists = new Lists(app.mcp, app.mcp.store.values, LIMITS, { warn: () => {} }, alias => `hop-${alias}`)
  t.teardown(() => lists.close())
  await lists.configure([ring])
  const client = await createClient(app)
  t.teardown(() => client.close())
  const told = async (): Promise<string[]> =>
    (
      (await client.request('tools/list', { _meta: { 'patchbay/gateway': true } }))['_meta'] as Record<string, string[]>
    )['patchbay/hops'] ?? []
  ring.connect()
  await until(() => lists.statusOf('ring').tools === 5)
  t.equal((await told()).length, 1_001)
  Object.assign(script, { hops: ['near', ...next()], answers: { 'tools/list': () => ({ tools: [] }) } })
  ring.connect()
  await until(() => lists.statusOf('ring').tools === 0)
  const after = await told()
  t.strictSame(
    [after.length, after.slice(0, 2)],
    [1_001, ['hop-ring', 'near']],
    'hops of a new handshake are kept before older ones'
  )
})
