import { Links } from '../../../upstreams/lists/result-links.js'
import t from 'tap'
import { resource } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { FakeUpstream } from './fake-upstream.js'
import { listed, served, tool } from './served.js'
import { cpuTimeOf } from '../../support/timing.js'

const readers = (upstreams: FakeUpstream[], uri: string): string[] =>
  upstreams
    .filter(({ connection }) => connection.of('resources/read').some(({ params }) => params.uri === uri))
    .map(({ entry: { alias } }) => alias)

t.test(
  'of two upstreams with one URI the first wins, and the other is reached with its alias, whatever the order of start',
  async t => {
    for (const isReversed of [false, true]) {
      const a = new FakeUpstream('a', {
        resources: [{ uri: 'x://1', name: 'of a' }],
        templates: [{ uriTemplate: 'y://{id}', name: 'of a' }]
      })
      const b = new FakeUpstream('b', {
        resources: [{ uri: 'x://1', name: 'of b' }],
        templates: [{ uriTemplate: 'y://{id}', name: 'of b' }]
      })
      const { client: open, connect, lists } = await served(t, [a, b])
      const client = await open()
      await connect(...(isReversed ? [b, a] : [a, b]))
      t.strictSame(
        (await listed(client, 'resources/list', 'resources', 'uri')).filter(uri => String(uri).includes('x://')),
        ['b+x://1', 'x://1']
      )
      t.strictSame(
        (await listed(client, 'resources/templates/list', 'resourceTemplates', 'uriTemplate')).filter(uri =>
          String(uri).includes('y://')
        ),
        ['b+y://{id}', 'y://{id}']
      )
      for (const uri of ['x://1', 'y://2', 'a+x://1', 'a+y://3']) await client.request('resources/read', { uri })
      t.strictSame(
        [...new Set(a.connection.of('resources/read').map(({ params }) => params.uri))],
        ['x://1', 'y://2', 'y://3']
      )
      t.equal(b.connection.of('resources/read').length, 0)
      for (const uri of ['b+x://1', 'b+y://2']) await client.request('resources/read', { uri })
      t.strictSame(
        b.connection.of('resources/read').map(({ params }) => params.uri),
        ['x://1', 'y://2']
      )
      t.match(lists.statusOf('b').warnings, [/resource "x:\/\/1" is also one of upstream a/, /resource template "y:/])
      t.strictSame(lists.statusOf('a').warnings, [])
    }
  }
)

t.test('local resources and templates win over those of upstreams', async t => {
  const a = new FakeUpstream('a', {
    resources: [{ uri: 'test://text', name: 'mine' }],
    templates: [{ uriTemplate: '{+any}', name: 'all' }]
  })
  const { app, client: open, connect } = await served(t, [a])
  await connect(a)
  app.mcp.resources.add(resource({ uri: 'late://{id}', name: 'late', read: () => 'local' }))
  const client = await open()
  for (const uri of ['test://text', 'test://item/1', 'late://1']) await client.request('resources/read', { uri })
  t.equal(a.connection.of('resources/read').length, 0)
  await client.request('resources/read', { uri: 'a+test://text' })
  t.strictSame(readers([a], 'test://text'), ['a'])
})

t.test('a template that we cannot match is listed, and named in the warnings', async t => {
  const a = new FakeUpstream('a', { templates: [{ uriTemplate: 'x://{', name: 'odd' }] })
  const { client: open, connect, lists } = await served(t, [a])
  await connect(a)
  t.ok((await listed(await open(), 'resources/templates/list', 'resourceTemplates', 'uriTemplate')).includes('x://{'))
  t.match(lists.statusOf('a').warnings, [/"x:\/\/\{" is listed, but no URI is found by it/])
})

t.test('a link from a result can be read though it was never listed, by the caller that got it', async t => {
  const content = [
    { type: 'resource_link', uri: 'l://1', name: 'l' },
    { type: 'resource', resource: { uri: 'l://2', text: '' } },
    { type: 'new', _meta: { ui: { resourceUri: 'ui://3' } } },
    null,
    'x'
  ]
  const a = new FakeUpstream('a', {})
  const b = new FakeUpstream('b', {
    tools: [tool('link'), tool('page', { _meta: { ui: { resourceUri: 'ui://page' } } })],
    answers: { 'tools/call': () => ({ content, _meta: { ui: { resourceUri: 'ui://4' } } }) }
  })
  const { client: open, connect } = await served(t, [a, b])
  await connect(a, b)
  const [ada, bob] = [
    await open({ identity: { principal: 'ada', scopes: 'all' } }),
    await open({ identity: { principal: 'bob', scopes: 'all' } })
  ]
  await t.rejects(ada.request('resources/read', { uri: 'l://1' }), { code: -32002 })
  await ada.request('tools/call', { name: 'b__link' })
  for (const uri of ['l://1', 'l://2', 'ui://3', 'ui://4']) {
    await ada.request('resources/read', { uri })
    t.strictSame(readers([a, b], uri), ['b'])
    await t.rejects(bob.request('resources/read', { uri }), { code: -32002 })
  }
  await bob.request('resources/read', { uri: 'ui://page' })
  t.strictSame(readers([a, b], 'ui://page'), ['b'], 'what a tool names is for all')
})

t.test('the oldest links are forgotten', async t => {
  let uri = ''
  const a = new FakeUpstream('a', {
    tools: [tool('link')],
    answers: { 'tools/call': () => ({ content: [{ type: 'resource_link', uri, name: 'l' }] }) }
  })
  const { client: open, connect } = await served(t, [a], { maxUpstreamLinks: 2 })
  await connect(a)
  const client = await open()
  for (uri of ['l://1', 'l://2', 'l://3']) await client.request('tools/call', { name: 'a__link' })
  await t.rejects(client.request('resources/read', { uri: 'l://1' }), { code: -32002 })
  for (const known of ['l://2', 'l://3']) await client.request('resources/read', { uri: known })
})

t.test('a link of absurd length is not kept', async t => {
  const links = new Links(2, () => 0)
  const long = `test://${'x'.repeat(3_000)}`
  links.note('ada', 'files', {
    content: [
      { type: 'resource_link', uri: long },
      { type: 'resource_link', uri: 'test://short' }
    ]
  })
  t.equal(links.find('ada', long), undefined)
  t.equal(links.find('ada', 'test://short'), 'files')
  t.equal(links.find(undefined, 'test://short'), undefined, 'a link of one caller is none of another')
})

t.test('templates that would cost much are listed, not matched, and a bounded number of them is named', async t => {
  const templates = [
    { uriTemplate: 'fine://{a}', name: 'fine' },
    { uriTemplate: `many://${'{a}'.repeat(40)}`, name: 'many' },
    { uriTemplate: `wide://{?${Array.from({ length: 40 }, (_, index) => `v${index}`).join(',')}}`, name: 'wide' },
    { uriTemplate: `long://${'x'.repeat(3_000)}{a}`, name: 'long' },
    ...Array.from({ length: 5_000 }, (_, index) => ({
      uriTemplate: `${index}:${'{a}'.repeat(600)}`,
      name: `t${index}`
    }))
  ]
  const [a, b] = [
    new FakeUpstream('a', { templates }),
    new FakeUpstream('b', {
      templates: templates.map(template => ({ ...template, uriTemplate: `${template.uriTemplate}\u001b[2J` }))
    })
  ]
  const { client: open, connect, lists } = await served(t, [a, b], { maxUpstreamTemplates: 10_000 })
  let client = await open()
  const took = await cpuTimeOf(async () => {
    await connect(a, b)
    client = await open()
    await client.request('resources/read', { uri: 'fine://1' })
    await t.rejects(client.request('resources/read', { uri: `many://${'x'.repeat(50)}` }), { code: -32002 })
  })
  t.ok(took < 20_000, `${took} ms of the processor, where matching them would take hours`)
  const known = new Set<unknown>(templates.map(({ name }) => name))
  t.equal(
    (await listed(client, 'resources/templates/list', 'resourceTemplates', 'name')).filter(name => known.has(name))
      .length,
    2 * templates.length
  )
  for (const alias of ['a', 'b']) {
    const { warnings } = lists.statusOf(alias)
    t.ok(warnings.length <= 21, `${warnings.length} warnings`)
    t.match(warnings.at(-1), /^and 498\d more$/)
    t.notOk(warnings.join().includes('\u001b'))
  }
})

t.test('what two upstreams both have is named in a bounded number of plain sentences', async t => {
  const resources = Array.from({ length: 2_000 }, (_, index) => ({
    uri: `x://h/${index}\u001b[2J\n${'y'.repeat(1_000)}`,
    name: 'x'
  }))
  const [a, b] = [new FakeUpstream('a', { resources }), new FakeUpstream('b', { resources })]
  const { connect, lists } = await served(t, [a, b])
  await connect(a, b)
  const { warnings } = lists.statusOf('b')
  t.equal(warnings.length, 21)
  t.match(warnings[0], /^resource "x:\/\/h\/0\?\[2J\?y+" is also one of upstream a, which comes first$/)
  t.ok(warnings.join().length < 10_000)
})

t.test("the operator's scopes for a resource hold by its own URI and by that with the alias, at every URL", async t => {
  const things = {
    resources: [
      { uri: 'x://one', name: 'x' },
      { uri: 'x://two', name: 'x' }
    ],
    templates: [{ uriTemplate: 'y://{id}', name: 'y' }]
  }
  const [a, b] = [new FakeUpstream('a', things), new FakeUpstream('b', things)]
  const scopes = {
    'resources/b+x://one': ['wide'],
    'resources/x://two': ['wide'],
    'resources/a+x://two': ['mcp'],
    'resources/a+y://{id}': ['wide'],
    'resources/b+z://linked': ['wide']
  }
  const { client: open, connect } = await served(t, [a, b], {}, await gateway(t, { tools: false, scopes }))
  await connect(a, b)
  const identity = { principal: 'ada', scopes: new Set(['mcp']) }
  const refused: string[] = []
  for (const view of [undefined, 'a', 'b']) {
    const client = await open({ identity, ...(view === undefined ? {} : { view }) })
    for (const uri of [
      'x://one',
      'a+x://one',
      'b+x://one',
      'x://two',
      'a+x://two',
      'b+x://two',
      'y://1',
      'a+y://1',
      'b+y://1',
      'z://linked'
    ]) {
      if (view !== undefined && uri.includes('+')) continue
      await client.request('resources/read', { uri }).catch(() => refused.push(`${view ?? ''} ${uri}`))
    }
  }
  t.strictSame(refused, [
    ' b+x://one',
    ' b+x://two',
    ' y://1',
    ' a+y://1',
    ' z://linked',
    'a y://1',
    'a z://linked',
    'b x://one',
    'b x://two',
    'b z://linked'
  ])
})
