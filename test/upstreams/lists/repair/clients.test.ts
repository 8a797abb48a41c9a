import { Validator, type Schema } from '@cfworker/json-schema'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator as ValidatorV2 } from '@modelcontextprotocol/client/validators/ajv'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { AnnotationsSchema } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import t, { type Test } from 'tap'
import { connectV2 } from '../../../clients/client-v2.js'
import type { Verbs } from '../../../clients/official.js'
import { connectV1 } from '../../../clients/sdk-v1.js'
import { listening } from '../../../support/gateway.js'
import { Speaker } from '../../../support/speaker.js'
import { revisions } from '../../../support/specification/revisions.js'
import { schemaFaults } from '../../../support/specification/schema.js'
import type { Entry } from '../../../../upstreams/lists/reading/kinds.js'
import { repairEntry } from '../../../../upstreams/lists/repair/entry.js'
import { FakeUpstream } from '../fake-upstream.js'
import { listed, served, tool } from '../served.js'
import { HOPELESS, PROMPTS, RESOURCES, TEMPLATES, TIMES, TOOLS } from './odd-entries.js'

type Json = Record<string, unknown>

const values = (entries: Readonly<Record<string, Json>>): Json[] => Object.values(entries)

/** A gateway in front of one server for each odd entry, and of a good one. */
async function oddServers (t: Test) {
  const { app, url } = await listening(t, { tools: false, plugins: [], pageSize: 1_000 })
  const odd = [
    ...values(TOOLS).map(entry => ({ tools: [entry] })),
    ...values(PROMPTS).map(entry => ({ prompts: [entry] })),
    ...values(RESOURCES).map(entry => ({ resources: [entry] })),
    ...values(TEMPLATES).map(entry => ({ templates: [entry] })),
    HOPELESS
  ]
  const upstreams = odd.map((script, index) => new FakeUpstream(`s${index}`, script))
  const good = new FakeUpstream('good', {
    tools: [tool('a'), tool('b', { outputSchema: { type: 'object', properties: { x: { type: 'number' } } } })]
  })
  const all = await served(t, [...upstreams, good], {}, app)
  await all.connect(...upstreams, good)
  return { ...all, url, aliases: upstreams.map(({ entry: { alias } }) => alias) }
}

async function readsAll (t: Test, verbs: Verbs): Promise<void> {
  const names = (await verbs.listTools()).tools.map(({ name }) => name)
  t.equal(names.filter(name => /^s\d/.test(name)).length, values(TOOLS).length, 'all odd tools are there')
  t.strictSame(names.filter(name => name.startsWith('good__')), ['good__a', 'good__b'], 'and all good ones')
  t.equal((await verbs.listPrompts()).prompts.length, values(PROMPTS).length)
  t.equal(
    (await verbs.listResources()).resources.filter(({ uri }) => uri.startsWith('odd')).length,
    values(RESOURCES).length
  )
  t.equal(
    (await verbs.listResourceTemplates()).resourceTemplates.filter(({ uriTemplate }) => uriTemplate.startsWith('odd'))
      .length,
    values(TEMPLATES).length
  )
}

t.test('official clients read the lists of all servers, however odd the entries of some are', async t => {
  const { url } = await oddServers(t)
  const at = new URL('/mcp', url)
  await t.test(
    'SDK v1',
    async t => await readsAll(t, (await connectV1(t, new TransportV1(at) as unknown as Transport)).verbs)
  )
  await t.test(
    'client v2',
    async t =>
      await readsAll(
        t,
        (await connectV2(t, new StreamableHTTPClientTransport(at), { versionNegotiation: { mode: 'auto' } })).verbs
      )
  )
})

t.test('what is listed fits the official schema of every revision, and what was changed says so', async t => {
  const { app, client, lists, aliases } = await oddServers(t)
  for (const revision of revisions) {
    const speaker = new Speaker(app, { version: revision.version })
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      const { result } = await speaker.request(method)
      t.strictSame(
        schemaFaults({ jsonrpc: '2.0', id: 1, result } as never, revision, method),
        [],
        `${method} of ${revision.version}`
      )
    }
  }
  const tools = await listed(await client(), 'tools/list', 'tools', '_meta') as Array<Json | undefined>
  t.ok(tools.filter(meta => meta?.['patchbay/changed'] !== undefined).length > values(TOOLS).length / 2)
  t.match(lists.statusOf(aliases.at(-1) ?? ''), {
    tools: 0,
    warnings: [
      'tool "text-schema" is left out: its inputSchema is not an object',
      'tool "no-input" is left out: its inputSchema is not an object',
      'prompt "text-arguments" is left out: its arguments are not a list of objects',
      'resource "not a URI" is left out: its uri is not a URI'
    ]
  })
  t.match(
    lists.statusOf('s0'),
    { tools: 1, repaired: 1, warnings: [] },
    'what was repaired is counted, and is no warning'
  )
})

t.test('times are kept where official clients read them, and dropped where not', async t => {
  for (const lastModified of TIMES) {
    const repaired = repairEntry('resources', { name: 'a', uri: 'a://b', annotations: { lastModified } }, 'safe') as {
      entry: Json
    }
    const isRead = AnnotationsSchema.safeParse({ lastModified }).success
    t.strictSame(repaired.entry.annotations, isRead ? { lastModified } : {}, JSON.stringify(lastModified))
  }
})

t.test('clients compile each output that is repaired, and unknown keywords without schemas stay', async t => {
  for (const [name, entry] of Object.entries(TOOLS)) {
    const repaired = repairEntry('tools', entry as Entry, 'safe') as { entry: Json }
    const { inputSchema, outputSchema = inputSchema } = repaired.entry as Record<string, Json>
    for (const Engine of [AjvJsonSchemaValidator, ValidatorV2]) {
      for (const schema of [inputSchema, outputSchema]) {
        t.doesNotThrow(() => new Engine().getValidator(structuredClone(schema) as never), name)
      }
    }
    t.doesNotThrow(() => new Validator(structuredClone(outputSchema) as Schema, '2020-12').validate({ a: 'x' }), name)
  }
  const outputSchema = {
    type: 'object',
    'x-order': ['a'],
    'x-ui': { widget: { name: 'text', options: [{ label: 'A' }] } },
    properties: {
      a: {
        'x-mcp-header': 'A',
        default: { $id: 'x' },
        const: { $anchor: '?' },
        enum: [{ $ref: 'x' }],
        examples: [{ id: 'x' }]
      }
    }
  }
  t.strictSame(
    (repairEntry('tools', { name: 'a', inputSchema: { type: 'object' }, outputSchema }, 'safe') as { entry: Json })
      .entry.outputSchema,
    outputSchema
  )
})

t.test('with schemas as-is, entries are listed as the server sent them', async t => {
  const upstream = new FakeUpstream(
    'raw',
    {
      tools: [
        { ...TOOLS['no type'], name: 'a' },
        { ...TOOLS['a root anyOf'], name: 'b', title: null }
      ],
      prompts: [{ name: 'p', description: null }],
      resources: values(RESOURCES),
      templates: values(TEMPLATES)
    },
    { schemas: 'as-is' }
  )
  const { connect, app, lists } = await served(t, [upstream])
  await connect(upstream)
  const { tools } = app.mcp.views.open('raw') as unknown as { tools: { get: (name: string) => { listed: Json } } }
  for (const entry of upstream.script.tools ?? []) {
    t.equal(JSON.stringify(tools.get(String(entry.name)).listed), JSON.stringify(entry))
  }
  t.match(lists.statusOf('raw'), { repaired: 0, warnings: [] })
})
