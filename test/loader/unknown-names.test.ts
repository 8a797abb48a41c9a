import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { patchbay, tool, type Options } from '../../app.js'
import { BUILT_IN_SCOPES, unknownNames } from '../../loader/unknown-names.js'
import { listed } from '../support/keys.js'
import { gateway } from '../support/gateway.js'

const ship = tool({ name: 'ship_order', description: 'Ships', scopes: ['orders:write'], run: () => 'shipped' })

/** What a start with these options warns of. */
async function warnings (options: Partial<Options>): Promise<string[]> {
  const said: string[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      said.push((JSON.parse(String(chunk)) as { msg: string }).msg)
      done()
    }
  })
  const app = Fastify({ loggerInstance: pino({ level: 'warn' }, out) })
  await app.register(patchbay, { tools: true, plugins: [async app => app.mcp.tools.add(ship)], ...options })
  await app.ready()
  await app.close()
  return said
}

t.test('names that fit are no reason to warn, nor are those of tools that are off here, nor the presets', async t => {
  const fits: Array<Partial<Options>> = [
    {},
    { tools: false },
    {
      scopes: {
        'tools/calculate': ['maths'],
        'tools/ship_order': [],
        'tools/execute_command': ['exec'],
        'resources/note:///{id}': ['notes'],
        'prompts/greeting': []
      }
    },
    { toolRates: { ship_order: 1, execute_command: 1 } },
    {
      apiKeys: [
        listed('ada', 'a', [
          'mcp',
          'admin',
          'notes',
          'notes:read',
          'exec',
          'orders',
          'orders:write',
          'maths',
          'profile'
        ])
      ],
      scopes: { 'tools/calculate': ['maths'] },
      oauth: {
        issuer: 'http://127.0.0.1:1',
        resource: 'http://127.0.0.1/mcp',
        jwks: 'http://127.0.0.1:1',
        scopes: ['profile']
      }
    }
  ]
  for (const options of fits) {
    t.strictSame(
      (await warnings(options)).filter(said => said.startsWith('option')),
      [],
      JSON.stringify(options)
    )
  }
})

t.test('each name that fits nothing is one warning, with the one that was meant', async t => {
  t.strictSame(
    await warnings({
      scopes: {
        'tools/exceute_command': ['exec'],
        'tools/ship_ordr': [],
        'prompts/calculate': [],
        'resources/note:///1': []
      },
      toolRates: { nope: 1, web_search: 2, ship_orders: 3 },
      apiKeys: [listed('bob', 'b', ['nots', 'mcp', 'orders:wriet', 'nothing at all'.replaceAll(' ', '-')])]
    }),
    [
      'option scopes has "tools/exceute_command", and there is no such thing here; did you mean "tools/execute_command"?',
      'option scopes has "tools/ship_ordr", and there is no such thing here; did you mean "tools/ship_order"?',
      'option scopes has "prompts/calculate", and there is no such thing here; did you mean "tools/calculate"?',
      'option scopes has "resources/note:///1", and there is no such thing here; did you mean "resources/note:///{id}"?',
      'option toolRates has "nope", and there is no such tool here',
      'option toolRates has "ship_orders", and there is no such tool here; did you mean "ship_order"?',
      'option apiKeys: the key of bob has the scope "nots", and nothing here asks for it; did you mean "notes"?',
      'option apiKeys: the key of bob has the scope "orders:wriet", and nothing here asks for it; did you mean "orders:write"?',
      'option apiKeys: the key of bob has the scope "nothing-at-all", and nothing here asks for it'
    ]
  )
})

t.test('the scopes of the built-in tools are listed in one place', async t => {
  const app = await gateway(t, {
    plugins: [],
    roots: [t.testdir()],
    commands: { node: { program: process.execPath } },
    clipboard: { remote: true }
  })
  const asked = [
    ...app.mcp.tools.names().map(name => app.mcp.tools.get(name)),
    ...app.mcp.resources.uris().map(uri => app.mcp.resources.get(uri))
  ].flatMap(item => item?.scopes ?? [])
  t.strictSame([...new Set(asked)].filter(scope => !BUILT_IN_SCOPES.includes(scope)), [])
  t.strictSame(unknownNames(app.mcp, { scopes: {}, toolRates: {}, apiKeys: [listed('ada', 'a', BUILT_IN_SCOPES)] }), [])
})

t.test('names that an upstream server may have are not reported', async t => {
  const app = await gateway(t)
  const upstreams = [
    { alias: 'files', prefix: undefined, scopes: ['disk'] },
    { alias: 'web', prefix: 'w-', scopes: undefined }
  ]
  const options = {
    scopes: {
      'tools/files__read': ['a'],
      'prompts/w-hello': ['a'],
      'resources/file:///x': ['a'],
      'tools/file__read': ['a']
    },
    toolRates: { files__read: 1, web__get: 1 },
    apiKeys: [listed('ada', 'a', ['disk', 'disc'])]
  }
  t.match(unknownNames(app.mcp, options, upstreams), [
    /^option scopes has "tools\/file__read"/,
    /^option toolRates has "web__get"/,
    /has the scope "disc"/
  ])
})

t.test('names in rules that match nothing are reported, as far as what there is is known', async t => {
  const app = await gateway(t)
  const upstream = (alias: string) => ({ alias, prefix: undefined, scopes: undefined })
  const mcp = { ...pick(app.mcp), upstreams: { hasLists: (alias: string) => alias === 'github' } }
  const options = {
    scopes: {},
    toolRates: {},
    apiKeys: [listed('ada', 'a', ['mcp', 'deploy'])],
    rules: [
      { deny: ['github__creat_issue', 'jira__anything', '*__delete_*'] },
      { deny: ['ech*'], where: { txt: 'x', text: 'y' } },
      { deny: ['jira__*', 'echo'], where: { whatever: 1 } },
      { deny: ['*'], for: { not: { scope: ['admn', 'admin', 'deploy'] } } }
    ]
  }
  t.strictSame(unknownNames(mcp, options, [upstream('github'), upstream('jira')]), [
    'option rules.0.deny has "github__creat_issue", which fits nothing that github listed last',
    'option rules.1.where has "txt", which is no argument of what the rule is about; did you mean "text"?',
    'option rules.3.for.not.scope has "admn", and no key has that scope; did you mean "admin"?'
  ])
})

const pick = ({ tools, resources, prompts, unavailable }: FastifyInstance['mcp']) =>
  ({ tools, resources, prompts, unavailable })
