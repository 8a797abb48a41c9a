import t from 'tap'
import { createEntry } from '../../support/fake-upstream.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { identityOf } from '../../../upstreams/server-entry.js'
import { FakeUpstream } from './fake-upstream.js'
import { served, tool, toolNames } from './served.js'

t.test('clients get the lists of the last start at once, marked stale until they are read', async t => {
  const app = await gateway(t, { tools: false })
  const script = { tools: [tool('one')], resources: [{ uri: 'x://1', name: 'x' }], instructions: 'Do.' }
  const before = new FakeUpstream('a', script)
  const first = await served(t, [before], {}, app)
  await first.connect(before)
  first.lists.close()
  const after = new FakeUpstream('a', { ...script, tools: [tool('two')] })
  const second = await served(t, [after], {}, app)
  const client = await second.client()
  t.match(second.lists.statusOf('a'), { tools: 1, stale: true })
  t.strictSame(await toolNames(client), ['a__one'])
  t.equal(client.server['instructions'], '## a\n\nDo.')
  await second.connect(after)
  t.match(second.lists.statusOf('a'), { tools: 1, stale: false })
  t.strictSame(await toolNames(client), ['a__two'])
})

t.test('what is stored of another server with the same alias, or of a removed one, is not served', async t => {
  const app = await gateway(t, { tools: false })
  const before = new FakeUpstream('a', { tools: [tool('one')] })
  const first = await served(t, [before], {}, app)
  await first.connect(before)
  first.lists.close()
  const address = { kind: 'http', url: 'http://localhost/mcp', headers: {} } as const
  const other = await served(t, [new FakeUpstream('a', {}, { address })], {}, app)
  t.match(other.lists.statusOf('a'), { tools: 0, stale: true })
  await other.lists.configure([])
  t.strictSame(await app.mcp.store.values.keys('upstream-lists'), [])
  t.strictSame(await toolNames(await other.client()), [])
})

t.test(
  'a gateway with other servers keeps what another one has stored in the same place, for a month after its last use',
  async t => {
    const app = await gateway(t, { tools: false })
    const [a, b] = [new FakeUpstream('a', { tools: [tool('one')] }), new FakeUpstream('b', { tools: [tool('one')] })]
    const first = await served(t, [a], {}, app)
    await first.connect(a)
    first.lists.close()
    const other = await served(t, [b], {}, app)
    await other.connect(b)
    other.lists.close()
    const again = new FakeUpstream('a', { tools: [tool('one')] })
    const second = await served(t, [again], {}, app)
    t.strictSame(await toolNames(await second.client()), ['a__one'])
    const stored: number[] = []
    const { values } = app.mcp.store
    const put = values.put.bind(values)
    values.put = async (space, key, value, options = {}) => {
      if (space === 'upstream-lists') stored.push(options.expires ?? 0)
      await put(space, key, value, options)
    }
    await second.connect(again)
    await until(() => stored.length === 1)
    t.ok((stored[0] ?? 0) > Date.now() + 29 * 24 * 60 * 60_000, 'also if nothing has changed')
  }
)

t.test(
  'a changed entry of the same server keeps its lists, a removed one disappears, a disabled one is not there',
  async t => {
    const a = new FakeUpstream('a', { tools: [tool('one'), tool('two')] })
    const b = new FakeUpstream('b', { tools: [tool('one')] })
    const { lists, connect, client: open, app } = await served(t, [a, b])
    await connect(a, b)
    const client = await open()
    await lists.configure([new FakeUpstream('a', {}, { excludeTools: ['two'] }), b])
    t.strictSame(await toolNames(client), ['a__one', 'b__one'])
    t.match([lists.statusOf('a').stale, lists.statusOf('b').stale], [true, false])
    await lists.configure([new FakeUpstream('b', {}, { disabled: true })])
    t.strictSame(await toolNames(client), [])
    t.strictSame(app.mcp.views.names(), [])
  }
)

t.test('a lazy server of which nothing is known is started to be listed; one that is known is not', async t => {
  const app = await gateway(t, { tools: false })
  const unknown = new FakeUpstream('a', { tools: [tool('one')] }, { start: 'lazy' })
  const first = await served(t, [unknown], {}, app)
  t.equal(unknown.starts, 1)
  await first.connect(unknown)
  first.lists.close()
  const known = new FakeUpstream('a', {}, { start: 'lazy' })
  await served(t, [known], {}, app)
  t.equal(known.starts, 0)
})

t.test('the identity of a server has no secrets, and changes with what tells servers apart', async t => {
  const stdio = (command: string, args: string[], env = {}, here?: string): string =>
    identityOf(createEntry({ alias: 'a', address: { kind: 'stdio', command, args, env, cwd: undefined } }), here)
  const http = (url: string, headers = {}): string =>
    identityOf(createEntry({ alias: 'a', address: { kind: 'http', url, headers } }))
  t.equal(stdio('x', ['y']), stdio('x', ['y'], { TOKEN: 'secret' }))
  t.not(stdio('x', ['y']), stdio('x', ['z']))
  t.equal(stdio('x', ['y']), stdio('x', ['y'], {}, '/elsewhere'), 'the working directory does not count')
  for (const [command, args] of [
    ['x', ['./y']],
    ['../x', []]
  ] as const) {
    t.not(stdio(command, [...args]), stdio(command, [...args], {}, '/elsewhere'), 'except where a path begins there')
  }
  t.equal(http('http://u:p@h/mcp?key=1'), http('http://h/mcp', { authorization: 'x' }))
  t.not(http('http://h/mcp'), http('http://h/other'))
})

t.test('another form of schemas changes what is listed at once, from the lists that are known or stored', async t => {
  const app = await gateway(t, { tools: false })
  const odd = { name: 'odd', inputSchema: { anyOf: [{ properties: { a: {} } }] } }
  const upstream = (schemas: 'safe' | 'as-is'): FakeUpstream => new FakeUpstream('a', { tools: [odd] }, { schemas })
  const safe = upstream('safe')
  const { lists, connect, client: open } = await served(t, [safe], {}, app)
  await connect(safe)
  const client = await open()
  const schemaOf = async (): Promise<unknown> =>
    ((await client.request('tools/list')) as { tools: Array<{ name: string, inputSchema: unknown }> }).tools.find(
      ({ name }) => name === 'a__odd'
    )?.inputSchema
  const repaired = { type: 'object', properties: { a: {} } }
  t.strictSame(await schemaOf(), repaired)
  for (const [form, expected, count] of [
    ['as-is', odd.inputSchema, 0],
    ['safe', repaired, 1],
    ['as-is', odd.inputSchema, 0]
  ] as const) {
    await lists.configure([upstream(form)])
    t.strictSame(await schemaOf(), expected, `${form}, before it is read again`)
    t.match(lists.statusOf('a'), { tools: 1, repaired: count })
  }
  lists.close()
  const later = await served(t, [upstream('safe')], {}, app)
  t.strictSame(await schemaOf(), repaired, 'what was stored by a gateway that listed as-is')
  t.equal(later.lists.repairsOf('a').length, 1)
  later.lists.close()
  await served(t, [upstream('as-is')], {}, app)
  t.strictSame(await schemaOf(), odd.inputSchema, 'what was stored by a gateway that repaired')
})
