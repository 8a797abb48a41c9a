import t from 'tap'
import { resource, type Client } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { until } from '../../support/wait.js'
import { FakeUpstream, type Script } from './fake-upstream.js'
import { served, tool } from './served.js'

const PAGE = 'ui://show/page.html'
const MIME = 'text/html;profile=mcp-app'
const UI = { resourceUri: PAGE, visibility: ['model', 'app'], later: { is: 1 } }
const META = { ui: UI, 'ui/resourceUri': PAGE, 'example.com/other': [1] }
const CONTENT = {
  uri: PAGE,
  mimeType: MIME,
  _meta: { ui: { csp: { connectDomains: ['https://a.example'] }, permissions: { camera: {} } }, 'x/y': 1 }
}

/** A server with an app; its page says of which server it is. */
function appServer (alias: string, script: Script = {}): FakeUpstream {
  return new FakeUpstream(alias, {
    tools: [tool('show', { _meta: META }), tool('hidden', { _meta: { ...META, ui: { ...UI, visibility: ['app'] } } })],
    resources: [{ uri: PAGE, name: 'page', mimeType: MIME, _meta: { ui: { prefersBorder: true } } }],
    answers: {
      'tools/call': () => ({
        content: [{ type: 'text', text: alias, _meta: { 'x/block': 1 } }], _meta: { 'x/result': { a: [1] } }
      }),
      'resources/read': () => ({ contents: [{ ...CONTENT, text: `<p>${alias}</p>` }], _meta: { 'x/read': 1 } })
    },
    ...script
  })
}

const toolsOf = async (client: Client): Promise<Json[]> => (await client.request('tools/list')).tools as Json[]

/** The URI of the page that a tool names, in both forms. */
async function pageOf (client: Client, name: string): Promise<string> {
  const meta = (await toolsOf(client)).find(each => each.name === name)?._meta as typeof META
  t.equal(meta['ui/resourceUri'], meta.ui.resourceUri, 'both forms say the same')
  return meta.ui.resourceUri
}

const textOf = async (client: Client, uri: string): Promise<unknown> =>
  ((await client.request('resources/read', { uri })).contents as Json[])[0]?.text

for (const modern of [true, false]) {
  t.test(`an app of a server ${modern ? 'without' : 'with'} a handshake passes through unharmed`, async t => {
    const a = appServer('a', { modern })
    const { client: open, connect } = await served(t, [a])
    await connect(a)
    for (const [view, name] of [[undefined, 'a__show'], ['a', 'show']] as const) {
      const client = await open(view === undefined ? {} : { view })
      const listed = (await toolsOf(client)).find(each => each.name === name)
      t.strictSame(listed?._meta, META)
      const resources = (await client.request('resources/list')).resources as Json[]
      t.strictSame(resources.find(({ uri }) => uri === PAGE), {
        uri: PAGE, name: 'page', mimeType: MIME, _meta: { ui: { prefersBorder: true } }
      })
      const read = await client.request('resources/read', { uri: PAGE })
      t.strictSame(read.contents, [{ ...CONTENT, text: '<p>a</p>' }])
      t.match(read._meta, { 'x/read': 1 })
      const result = await client.request('tools/call', { name })
      t.match(result, { content: [{ _meta: { 'x/block': 1 } }], _meta: { 'x/result': { a: [1] } } })
    }
  })
}

t.test('of two servers with one page each tool leads to its own, in whatever order they start', async t => {
  for (const isReversed of [false, true]) {
    const [a, b] = [appServer('a'), appServer('b', { resources: [] })]
    const { client: open, connect } = await served(t, [a, b])
    await connect(...(isReversed ? [b, a] : [a, b]))
    const client = await open()
    await until(async () => await pageOf(client, 'b__show') !== PAGE, 'the page of b to be told apart')
    t.equal(await pageOf(client, 'a__show'), PAGE, 'the first keeps its URI')
    t.equal(await pageOf(client, 'b__show'), 'ui://b+show/page.html', 'a page keeps its scheme')
    t.equal(await pageOf(client, 'b__hidden'), 'ui://b+show/page.html')
    for (const alias of ['a', 'b']) {
      t.equal(await textOf(client, await pageOf(client, `${alias}__show`)), `<p>${alias}</p>`)
    }
    t.equal(await textOf(client, 'ui://a+show/page.html'), '<p>a</p>', 'the alias always leads to the server')
    t.equal(await textOf(client, 'a+ui://show/page.html'), '<p>a</p>')
    t.strictSame(new Set(b.connection.of('resources/read').map(({ params }) => params.uri)), new Set([PAGE]))
  }
})

t.test('what is listed comes before what a tool names alone, also where its server comes later', async t => {
  const a = appServer('a', { resources: [] })
  const b = appServer('b', { tools: [] })
  const { client: open, connect } = await served(t, [a, b])
  await connect(a)
  const client = await open()
  t.equal(await pageOf(client, 'a__show'), PAGE)
  await connect(b)
  await until(async () => await pageOf(client, 'a__show') !== PAGE, 'the tool of a to name another URI')
  t.equal(await textOf(client, await pageOf(client, 'a__show')), '<p>a</p>')
  t.equal(await textOf(client, PAGE), '<p>b</p>')
  await client.notified('notifications/tools/list_changed')
})

t.test('a template or resource of others takes no page from a tool', async t => {
  const a = appServer('a', { resources: [], tools: [], templates: [{ uriTemplate: 'ui://{+any}', name: 'all' }] })
  const b = appServer('b', { resources: [] })
  const c = appServer('c', { tools: [tool('show', { _meta: { ui: { resourceUri: 'ui://own' } } })], resources: [] })
  const { app, client: open, connect } = await served(t, [a, b, c])
  app.mcp.resources.add(resource({ uri: 'ui://own', name: 'own', read: () => '<p>own</p>' }))
  await connect(a, b, c)
  const client = await open()
  t.equal(await textOf(client, await pageOf(client, 'b__show')), '<p>b</p>')
  const [shown] = (await toolsOf(client)).filter(({ name }) => name === 'c__show')
  t.strictSame(shown?._meta, { ui: { resourceUri: 'ui://c+own' } })
  t.equal(await textOf(client, 'ui://c+own'), '<p>c</p>')
  t.equal(await textOf(client, 'ui://own'), '<p>own</p>')
})

t.test('pages are found in views, under short names, with search, and where a view has the tool alone', async t => {
  const views = {
    short: { servers: ['b'], names: 'short' as const },
    tool: { tools: ['b__show'] },
    search: { search: { always: ['b__show'] } },
    without: { tools: ['b__show'], exclude: ['b+ui://*'] }
  }
  const app = await gateway(t, { tools: false, views })
  const [a, b] = [appServer('a'), appServer('b')]
  const { client: open, connect } = await served(t, [a, b], {}, app)
  await connect(a, b)
  const whole = await open()
  await until(async () => await pageOf(whole, 'b__show') !== PAGE, 'the page of b to be told apart')
  for (const [view, name] of [['short', 'show'], ['tool', 'b__show'], ['search', 'b__show']] as const) {
    const client = await open({ view })
    await until(async () => await pageOf(client, name) !== PAGE, `the view ${view} to follow`)
    t.equal(await textOf(client, await pageOf(client, name)), '<p>b</p>', view)
  }
  const own = await open({ view: 'b' })
  t.equal(await pageOf(own, 'show'), PAGE, 'at the URL of the server everything has its own name')
  t.equal(await textOf(own, PAGE), '<p>b</p>')
  const hidden = 'ui://b+show/page.html'
  await t.rejects(textOf(await open({ view: 'without' }), hidden), /not found/i, 'what is excluded stays so')
  await t.rejects(textOf(await open({ view: 'tool' }), PAGE), /not found/i, 'and a page of others is not in a view')
})

t.test('a rule on the pages of a server holds for them under every URI', async t => {
  const app = await gateway(t, { tools: false, rules: [{ deny: ['b+ui://*'] }] })
  const [a, b] = [appServer('a'), appServer('b', { resources: [] })]
  const { client: open, connect } = await served(t, [a, b], {}, app)
  await connect(a, b)
  const client = await open()
  for (const uri of ['ui://b+show/page.html', 'ui://b%2Bshow/page.html', 'b+ui://show/page.html']) {
    await t.rejects(textOf(client, uri), /not found/i, uri)
  }
  t.equal(await textOf(client, PAGE), '<p>a</p>')
  t.equal(b.connection.of('resources/read').length, 0)
})
