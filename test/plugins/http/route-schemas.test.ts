import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { patchbay } from '../../../app.js'
import { routeInput } from '../../../plugins/http/route-tools/route-input.js'

const STATUS = { $id: 'Status', type: 'string', enum: ['new', 'done'] }
const COMMON = {
  $id: 'https://shop.test/common.json',
  type: 'object',
  definitions: {
    page: { type: 'object', properties: { page: { $ref: '#/definitions/count' } }, required: ['page'] },
    count: { type: 'integer', minimum: 1 },
    address: { $id: '#address', type: 'object', properties: { city: { type: 'string' } } }
  }
}
const ITEMS = { $id: 'Items', type: 'array', items: { $ref: '#/definitions/item' }, definitions: { item: { $ref: 'Status#' } } }
const ENDLESS = { $id: 'Endless', allOf: [{ $ref: 'Endless' }, { type: 'object', properties: { end: { type: 'null' } } }] }

interface Listed { properties: Record<string, object>, required?: string[] }

/** The arguments of the tool of a route that takes these schemas. */
async function listed (t: Test, schema: object): Promise<Listed> {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai' })
  for (const shared of [STATUS, COMMON, ITEMS, ENDLESS]) app.addSchema(shared)
  app.post('/it', { schema, config: { mcp: { name: 'it' } } }, async () => 'done')
  await app.ready()
  return app.mcp.tools.get('it')?.listed.inputSchema as Listed
}

/** Expects that arguments fit or do not, for a client that reads the schema by itself. */
function compare (t: Test, schema: Listed, good: object[], bad: object[]): void {
  t.notMatch(JSON.stringify(schema), /"\$(id|anchor|schema)":"/, 'two tools may have the same schema')
  const check = new Ajv2020({ strict: false }).compile(schema)
  for (const args of good) t.ok(check(args), JSON.stringify(args))
  for (const args of bad) t.notOk(check(args), JSON.stringify(args))
}

t.test('schemas that hold together are one set of arguments, of which those with a default may be missing', async t => {
  const schema = await listed(t, {
    querystring: Type.Intersect([
      { $ref: 'https://shop.test/common.json#/definitions/page' },
      Type.Object({ limit: Type.Integer({ default: 10 }), status: Type.Ref('Status') })
    ] as never),
    body: Type.Intersect([
      Type.Object({ name: Type.String() }),
      Type.Object({ name: Type.String({ minLength: 2 }), note: Type.Optional(Type.String()) }),
      Type.Object({ note: Type.Optional(Type.String()) })
    ])
  })
  t.strictSame(Object.keys(schema.properties), ['page', 'limit', 'status', 'name', 'note'])
  t.strictSame(schema.required, ['page', 'status', 'name'])
  t.strictSame(schema.properties['note'], { type: 'string' }, 'said twice is said once')
  const good = { page: 1, status: 'new', name: 'ab' }
  compare(t, schema, [good], [{ ...good, page: 0 }, { ...good, status: 'x' }, { ...good, name: 'a' }])
})

t.test('where not all that hold together are objects, the body is one argument', async t => {
  const schema = await listed(t, {
    body: Type.Intersect([
      Type.Object({ name: Type.String() }),
      Type.Union([Type.Object({ a: Type.Ref('Status') }), Type.Object({ b: Type.Integer() })])
    ])
  })
  t.strictSame(Object.keys(schema.properties), ['body'])
  compare(t, schema, [{ body: { name: 'x', a: 'new' } }, { body: { name: 'x', b: 1 } }], [{ body: { name: 'x', a: 'x' } }, { body: {} }, {}])
})

t.test('references lead to parts of other schemas, by their paths and by their names', async t => {
  const schema = await listed(t, {
    querystring: { $ref: 'https://shop.test/common.json#/definitions/page' },
    body: {
      type: 'object',
      definitions: { own: { $id: '#own', type: 'boolean' } },
      properties: { home: { $ref: 'https://shop.test/common.json#address' }, isOwn: { $ref: '#own' } }
    }
  })
  t.strictSame(Object.keys(schema.properties), ['page', 'home', 'isOwn'])
  compare(t, schema, [{ page: 1, home: { city: 'Rome' }, isOwn: true }], [{ page: 0 }, { page: 1, home: { city: 1 } }, { page: 1, isOwn: 1 }])
})

t.test('parts with ids of their own keep their references, and lose the ids', async t => {
  const part = { $id: 'Part', type: 'object', definitions: { short: { type: 'string', maxLength: 3 } }, properties: { code: { $ref: '#/definitions/short' }, status: { $ref: 'Status' } } }
  const tree = Type.Recursive(This => Type.Object({ name: Type.String(), nodes: Type.Array(This) }), { $id: 'Tree' })
  const schema = await listed(t, { body: { type: 'object', properties: { parts: { type: 'array', items: part }, tree } } })
  compare(t, schema,
    [{ parts: [{ code: 'abc', status: 'new' }], tree: { name: 'a', nodes: [{ name: 'b', nodes: [] }] } }],
    [{ parts: [{ code: 'abcd' }] }, { parts: [{ status: 'x' }] }, { tree: { name: 'a', nodes: [{ name: 'b' }] } }]
  )
  const { A, B } = { A: Type.Object({ b: Type.Ref('B') }), B: Type.Object({ c: Type.Integer() }) }
  const ofModule = await listed(t, { body: Type.Module({ A, B }).Import('A') })
  compare(t, ofModule, [{ b: { c: 1 } }], [{}, { b: { c: 'x' } }])
})

t.test('a shared schema may be a list, contain itself, or have properties that are called like keywords', async t => {
  compare(t, await listed(t, { body: { $ref: 'Items#' } }), [{ body: ['new'] }], [{ body: ['x'] }, {}])
  t.strictSame(Object.keys((await listed(t, { querystring: { $ref: 'Endless' } })).properties), ['end'])
  const schema = await listed(t, {
    body: { type: 'object', properties: { default: { $ref: 'Status' }, $id: { type: 'integer' }, of: { type: 'object', properties: { enum: { $ref: 'Status' } } } } }
  })
  compare(t, schema, [{ default: 'new', $id: 1, of: { enum: 'done' } }], [{ default: 'x' }, { $id: 'x' }, { of: { enum: 'x' } }])
})

t.test('parts with ids that refer to each other are each looked for once', async t => {
  const count = 500
  let reads = 0
  const idOf = (index: number): string => {
    reads++
    return `Part${index}`
  }
  const parts = Array.from({ length: count }, (_, index) => Object.defineProperty({
    type: 'object',
    definitions: { size: { $id: `#size${index}`, type: 'integer', maximum: index } },
    properties: { next: { $ref: `Part${(index + 1) % count}` }, size: { $ref: `#size${index}` } }
  }, '$id', { enumerable: true, get: () => idOf(index) }))
  const definitions = Object.fromEntries(parts.map((part, index) => [`part${index}`, part]))
  const body = { type: 'object', definitions, properties: { first: { $ref: 'Part0' } } }
  const { schema } = routeInput({ method: 'POST', url: '/it', schema: { body }, shared: {} }, [], [])
  t.ok(reads < 20 * count, `${reads} reads`)
  const last = { next: { $ref: '#/$defs/body/definitions/part0' }, size: { $ref: `#/$defs/body/definitions/part${count - 1}/definitions/size` } }
  t.match(schema, {
    properties: { first: { $ref: '#/$defs/body/definitions/part0' } },
    $defs: { body: { definitions: { [`part${count - 1}`]: { $id: undefined, properties: last } } } }
  })
})
