import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { readApi } from '../../../upstreams/openapi/api.js'
import { parseDocument } from '../../../upstreams/openapi/document/parse.js'
import { isApi } from '../../../upstreams/server-entry.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { apiServer, documentOf, fileOf, inFrontOfApi } from './api.js'

const URL_OF_API = 'http://127.0.0.1:9'
const get = (operationId: string, more: object = {}): object => ({ get: { operationId, ...more } })
const query = (schema: object): object => ({ parameters: [{ name: 'it', in: 'query', schema }] })

/** The state of a gateway whose API cannot be used, when that is known. */
async function failing (t: Test, entry: object, options: object = {}): Promise<string> {
  const app = await gateway(t, { plugins: [], tools: false, ...options, mcpServers: { api: entry } })
  await until(() => app.mcp.upstreams.status()[0]?.lastError !== undefined, 'the failure')
  return app.mcp.upstreams.status()[0]?.lastError ?? ''
}

t.test('only operations that read become tools, unless the entry names other methods', async t => {
  const operations = { get: {}, head: {}, post: {}, delete: { operationId: 'drop' }, put: {} }
  const openapi = fileOf(t, documentOf({ '/pets': operations }))
  const reading = await inFrontOfApi(t, { openapi, url: URL_OF_API })
  t.strictSame(reading.app.mcp.tools.names().sort(), ['api__get_pets', 'api__head_pets'])
  t.match(await reading.tool('get_pets'), { annotations: { readOnlyHint: true, openWorldHint: true }, description: 'GET /pets' })
  const writing = await inFrontOfApi(t, { openapi, url: URL_OF_API, operations: { methods: ['delete', 'put'] } })
  t.match(await writing.tool('drop'), { annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true } })
  t.strictSame(writing.app.mcp.tools.names().sort(), ['api__drop', 'api__put_pets'])
})

t.test('operations are chosen by id, method and path, and tag; a pattern that fits none is named', async t => {
  const paths = {
    '/repos': get('repos/list', { tags: ['public'] }),
    '/repos/{id}/issues': get('issues/list', { tags: ['public'] }),
    '/admin/users': get('users/list', { tags: ['public', 'admin'] }),
    '/private': get('private/list'),
    '/hidden': get('hidden', { 'x-mcp': false, tags: ['public'] })
  }
  const openapi = fileOf(t, documentOf(paths))
  const served = async (operations: object): Promise<string[]> => {
    const { app } = await inFrontOfApi(t, { openapi, url: URL_OF_API, operations })
    const [{ warnings = [] } = {}] = app.mcp.upstreams.status()
    return [...app.mcp.tools.names().map(name => name.slice('api__'.length)).sort(), ...warnings]
  }
  t.strictSame(await served({ include: ['issues/*', 'GET /admin/**'] }), ['issues_list', 'users_list'])
  t.strictSame(await served({ include: ['/repos/*/issues'], exclude: ['nothing/*'] }), ['issues_list', 'no operation of its document fits "nothing/*" in operations'])
  t.strictSame(await served({ tags: ['public'], exclude: ['/admin/**'] }), ['issues_list', 'repos_list'])
  t.strictSame(await served({ tags: ['public', 'publik'] }), ['issues_list', 'repos_list', 'users_list', 'no operation of its document has the tag "publik"'])
})

t.test('names are unique, have at most 49 characters, and do not depend on the order of the document', async t => {
  const long = 'x'.repeat(80)
  const paths: Array<[string, object]> = [
    ['/a', get('one/two')], ['/b', get('one.two')], ['/c', get(long)], ['/d', get(`${long}y`)], ['/e/{id}', { get: {} }], ['/f', get('ünï')]
  ]
  const named = async (order: Array<[string, object]>): Promise<string[]> => {
    const openapi = fileOf(t, documentOf(Object.fromEntries(order)))
    const { app } = await inFrontOfApi(t, { openapi, url: URL_OF_API })
    return app.mcp.tools.names().sort()
  }
  const names = await named(paths)
  t.equal(new Set(names).size, paths.length)
  for (const name of names) t.match(name, /^[A-Za-z0-9_-]{1,49}$/)
  t.strictSame(await named([...paths].reverse()), names)
})

t.test('schemas keep their references and cycles, in the newest dialect', async t => {
  const node = {
    type: 'object',
    nullable: true,
    properties: {
      next: { $ref: '#/components/schemas/Node' },
      size: { type: 'integer', minimum: 0, exclusiveMinimum: true, example: 1, xml: {} },
      kind: { type: 'string', nullable: true, enum: ['a', 'b', 'a'] },
      bad: { type: 'any', pattern: '(?<', maxLength: '3', required: true },
      ['__proto__']: { type: 'string' }
    }
  }
  const filter = { $ref: '#/components/schemas/Node' }
  const { tool } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/': get('get', query(filter)) }, { components: { schemas: { Node: node, Unused: {} } } })), url: URL_OF_API, schemas: 'as-is'
  })
  const { inputSchema } = await tool('get')
  t.strictSame(inputSchema.properties, { it: { $ref: '#/$defs/Node' } })
  t.strictSame(Object.keys(inputSchema.$defs ?? {}), ['Node'])
  t.match(inputSchema.$defs?.['Node'], {
    type: ['object', 'null'],
    properties: { next: { $ref: '#/$defs/Node' }, size: { exclusiveMinimum: 0 }, kind: { type: ['string', 'null'], enum: ['a', 'b', null] }, bad: {} }
  })
  const check = new Ajv2020({ strict: false }).compile(inputSchema)
  t.ok(check({ it: { next: { next: null, size: 1 } } }))
  t.notOk(check({ it: { size: 0 } }))
})

t.test('a schema that is too long is cut where it is farthest from its root', async t => {
  const schemas = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`S${index}`, {
    type: 'object', description: 'x'.repeat(900), properties: { next: { $ref: `#/components/schemas/S${index + 1}` } }
  }]))
  const { tool, app } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/': get('get', query({ $ref: '#/components/schemas/S0' })) }, { components: { schemas: { ...schemas, S50: {} } } })),
    url: URL_OF_API
  }, { limits: { maxApiSchema: 8_192 } })
  const { inputSchema } = await tool('get')
  t.ok(JSON.stringify(inputSchema).length <= 8_192)
  t.match(JSON.stringify(inputSchema), /Cut off here/)
  new Ajv2020({ strict: false }).compile(inputSchema)
  t.match(app.mcp.upstreams.status()[0]?.warnings, [/^the arguments of 1 tools are not described to the end/])
})

t.test('a document that cannot be used is said in words', async t => {
  const wrong: Array<[document: object | string, why: RegExp, name?: string]> = [
    ['{', /openapi\.json\) cannot be used: it is not valid JSON/],
    ['[]', /it is no OpenAPI document/],
    [{ openapi: '4.0.0' }, /version of OpenAPI that Patchbay does not know/],
    ['a: [', /line 1: this is not YAML/, 'openapi.yaml'],
    [documentOf({}), /does not say where the API is; set "url"/],
    [documentOf({}, { servers: [{ url: 'http://169.254.169.254/' }] }), /in a network of this machine; set "url"/],
    [documentOf({}, { servers: [{ url: 'ftp://example.com' }] }), /does not say where the API is/]
  ]
  for (const [document, why, name] of wrong) t.match(await failing(t, { openapi: fileOf(t, document, name) }), why)
  t.match(await failing(t, { openapi: `${t.testdir()}/none.json`, url: URL_OF_API }), /\(none\.json\) cannot be read: there is no such file/)
  const large = fileOf(t, documentOf({ '/': get('get') }))
  t.match(await failing(t, { openapi: large, url: URL_OF_API }, { limits: { maxApiDocument: 10 } }), /more than 10 bytes \(limit maxApiDocument\)/)
})

t.test('a document from a URL may name its own origin only, and what it redirects to is not fetched', async t => {
  const document = { paths: { '/pets': get('pets') } }
  const other = await apiServer(t)
  let servers: unknown
  const api = await apiServer(t, ({ url }, response) => {
    if (url === '/away') response.writeHead(302, { location: `${other.url}/openapi.json` }).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(url === '/openapi.json' ? JSON.stringify(documentOf(document.paths, { servers })) : '{}')
  })
  servers = [{ url: other.url }]
  t.match(await failing(t, { openapi: `${api.url}/openapi.json` }), /says that the API is at .* set "url" of this server/)
  t.match(await failing(t, { openapi: `${api.url}/away` }), /redirects to another origin/)
  servers = [{ url: '/v{n}', variables: { n: { default: '2' } } }]
  const { call } = await inFrontOfApi(t, { openapi: `${api.url}/openapi.json` })
  await call('pets')
  t.equal(api.received.at(-1)?.url, '/v2/pets')
  t.equal(other.received.length, 0)
})

t.test('hostile documents cost no more than their size', async t => {
  const deep = `${'{"items":'.repeat(20_000)}{}${'}'.repeat(20_000)}`
  const documents: Record<string, object | string> = {
    cycle: documentOf({ '/': get('get', query({ $ref: '#/components/schemas/A' })) }, { components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } } }),
    parameters: documentOf({ '/': get('get', { parameters: Array.from({ length: 1_000 }, (_, n) => ({ name: `p${n}`, in: 'query' })) }), '/good': get('good') }),
    enumeration: documentOf({ '/': get('get', query({ type: 'string', enum: Array.from({ length: 50_000 }, (_, n) => `value ${n}`) })) }),
    merges: documentOf({ '/': { post: { operationId: 'get', requestBody: { $ref: '#/components/requestBodies/B' } } } }, {
      components: { requestBodies: { B: { content: { 'application/json': { schema: { $ref: '#/components/schemas/M' } } } } }, schemas: { M: { allOf: Array.from({ length: 9 }, () => ({ $ref: '#/components/schemas/M' })) } } }
    }),
    names: documentOf(Object.fromEntries([['__proto__', get('proto')], ['/__proto__', get('__proto__')], ['/constructor', get('constructor', { parameters: [{ name: '__proto__', in: 'query' }] })]])),
    deep: JSON.stringify(documentOf({ '/': get('get', query({ DEEP: 1 })) })).replace('{"DEEP":1}', deep),
    operations: documentOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`/p${n}`, get(`o${n}`, query({ $ref: '#/components/schemas/Big' }))])), {
      components: { schemas: { Big: { type: 'object', properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`member${n}`, { type: 'string' }])) } } }
    })
  }
  for (const [name, document] of Object.entries(documents)) {
    await t.test(name, async t => {
      const from = process.cpuUsage()
      const { app } = await inFrontOfApi(t, { openapi: fileOf(t, document), url: URL_OF_API, operations: { methods: ['get', 'post'] } }, { limits: { maxUpstreamEntries: 200 } })
      t.ok(app.mcp.tools.names().length > 0)
      const { user, system } = process.cpuUsage(from)
      t.ok((user + system) / 1_000 < 20_000, `${(user + system) / 1_000} ms of the processor`)
      const [{ warnings = [] } = {}] = app.mcp.upstreams.status()
      if (name === 'parameters') t.match(warnings, [/operation "GET \/" is left out: it has more than 256 parameters/])
      if (name === 'operations') t.match(warnings.join('\n'), /more than 200 operations \(limit maxUpstreamEntries\)/)
    })
  }
})

t.test('operations that cannot be tools count, cost no more than others, and are read in several turns', async t => {
  const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`member${index}`, { type: 'string' }]))
  const parameters = Array.from({ length: 40 }, (_, index) => ({ name: `p${index}`, in: 'query', schema: { properties } }))
  const paths = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`/${index}`, { $ref: '#/x-item' }]))
  const text = JSON.stringify(documentOf(paths, { 'x-item': { parameters, get: {}, head: {} } }))
  const document = await parseDocument(Buffer.from(text), 'x.json')
  const address = { kind: 'openapi' as const, document: 'x.json', url: URL_OF_API, headers: {}, operations: {} }
  const { stringify } = JSON
  t.teardown(() => { JSON.stringify = stringify })
  let [written, turns, isRead] = [0, 0, false]
  JSON.stringify = ((...given: [unknown]) => {
    const made = stringify(...given)
    if (made.startsWith('{"type":"object","properties":{"p0":')) written++
    return made
  }) as typeof stringify
  const turn = (): void => {
    turns++
    if (!isRead) setImmediate(turn)
  }
  turn()
  const { tools, warnings } = await readApi(document, address, { maxOperations: 100, maxSchema: 32_768 })
  isRead = true
  JSON.stringify = stringify
  t.equal(tools.length, 0)
  t.match(warnings[0], /^its document has more than 100 operations \(limit maxUpstreamEntries\)/)
  t.match(warnings.slice(1), [...Array.from({ length: 19 }, () => /is left out: its arguments take more than 32768/), 'and 81 more'])
  t.ok(turns >= 100, `each has a turn of its own: ${turns}`)
  t.equal(written, 0, 'arguments that are too long are not written as JSON')
})

t.test('an entry of an API has no fields of other servers', async t => {
  const { app } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf({ '/': get('get') })), url: URL_OF_API, headers: { 'X-Key': 'k' } })
  const entry = app.mcp.upstreams.get('api')?.entry
  t.ok(entry !== undefined && isApi(entry))
  t.match(entry?.address, { kind: 'openapi', headers: { 'X-Key': 'k' }, operations: {} })
})
