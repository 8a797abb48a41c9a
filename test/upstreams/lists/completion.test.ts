import t from 'tap'
import { revision } from '../../support/recorder.js'
import { FakeUpstream } from './fake-upstream.js'
import { served, tool } from './served.js'

t.test('suggestions are asked of the upstream, by its own names, and relayed with total and hasMore', async t => {
  const completion = { values: ['a'], total: 300, hasMore: true }
  const upstream = new FakeUpstream('a', {
    prompts: [{ name: 'ask me' }],
    templates: [{ uriTemplate: 'x://{id}', name: 'x' }],
    answers: { 'completion/complete': () => ({ completion }) }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  const argument = { name: 'id', value: 'v' }
  t.strictSame(
    await client.request('completion/complete', { ref: { type: 'ref/prompt', name: 'a__ask_me' }, argument }),
    { completion }
  )
  t.strictSame(
    await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: 'x://{id}' },
      argument,
      context: { arguments: { o: '1' } }
    }),
    { completion }
  )
  t.match(upstream.connection.of('completion/complete').map(({ params }) => params), [
    { ref: { type: 'ref/prompt', name: 'ask me' }, argument },
    { ref: { type: 'ref/resource', uri: 'x://{id}' }, argument, context: { arguments: { o: '1' } } }
  ])
})

t.test('an upstream without completions is not asked', async t => {
  const upstream = new FakeUpstream('a', { prompts: [{ name: 'ask' }], capabilities: { prompts: {} } })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const result = await (
    await open()
  ).request('completion/complete', { ref: { type: 'ref/prompt', name: 'a__ask' }, argument: { name: 'x', value: '' } })
  t.strictSame(result, { completion: { values: [], total: 0, hasMore: false } })
  t.equal(upstream.connection.of('completion/complete').length, 0)
})

t.test(
  'an upstream of the first revision, which has no such capability, is asked, and may not know the method',
  async t => {
    const completion = { values: ['a'] }
    const script = { revision: revision('2024-11-05'), prompts: [{ name: 'ask' }], capabilities: { prompts: {} } }
    const [able, unable] = [
      new FakeUpstream('able', { ...script, answers: { 'completion/complete': () => ({ completion }) } }),
      new FakeUpstream('unable', script)
    ]
    const { client: open, connect } = await served(t, [able, unable])
    await Promise.all([connect(able), connect(unable)])
    const client = await open()
    const complete = async (name: string): Promise<unknown> =>
      await client.request('completion/complete', {
        ref: { type: 'ref/prompt', name },
        argument: { name: 'x', value: '' }
      })
    t.match(await complete('able__ask'), { completion })
    t.strictSame(await complete('unable__ask'), { completion: { values: [], total: 0, hasMore: false } })
    t.equal(unable.connection.of('completion/complete').length, 1)
  }
)

t.test('arguments that the upstream wants in headers are mirrored, and anew after its list was read again', async t => {
  const annotated = (header: string): Record<string, unknown> =>
    tool('route', {
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': header } } }
    })
  const upstream = new FakeUpstream('a', { modern: true, transport: 'http', tools: [annotated('Region')] })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  await (await open()).request('tools/call', { name: 'a__route', arguments: { region: 'zürich' } })
  const [request] = upstream.connection.of('tools/call')
  t.strictSame(request?.headers, { 'Mcp-Param-Region': '=?base64?esO8cmljaA==?=' })
  upstream.script.tools = [annotated('Place')]
  t.strictSame(await request?.renewHeaders?.(), { 'Mcp-Param-Place': '=?base64?esO8cmljaA==?=' })
})
