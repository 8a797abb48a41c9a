import t from 'tap'
import { openApiDocument } from '../../../transports/rest/openapi.js'
import { queryArguments } from '../../../transports/rest/query-arguments.js'

const DESCRIBED = { title: 'x', version: '1', description: undefined, url: 'http://localhost/api', isGuarded: false }

interface Document {
  paths: Record<string, { post: { operationId: string, requestBody: { content: Record<string, { schema: object }> } } }>
  components: { schemas: Record<string, object>, securitySchemes?: object }
  security?: object
}

const documentOf = (inputSchema: object, described = DESCRIBED, outputSchema?: object): Document =>
  openApiDocument([{ name: 'a.tool', inputSchema, outputSchema }], described, () => false) as Document
const bodyOf = ({ paths }: Document): object | undefined =>
  paths['/tools/a.tool']?.post.requestBody.content['application/json']?.schema

t.test('a schema without references stands in its operation, without the member that names its dialect', async t => {
  const schema = { type: 'object', properties: { $ref: { type: 'string' } } }
  t.strictSame(bodyOf(documentOf({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema })), schema)
})

const NODE = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/no%20de' } } } }
const REFERRING = {
  type: 'object',
  properties: {
    tree: { $ref: '#/$defs/no%20de' },
    self: { $ref: '#' },
    again: { $ref: '#/properties/tree' },
    kept: { const: { $ref: '#/$defs/x' } },
    other: { $ref: 'https://example.com/schema' },
    $ref: { type: 'string' },
    either: { anyOf: [{ type: 'object', properties: { any: true } }, { $ref: '#/properties/either/anyOf/0' }] }
  },
  additionalProperties: true,
  $defs: { 'no de': NODE, unused: {} }
}
const KEYS = ['a.tool.input', 'a.tool.input.no_de', 'a.tool.input.tree', 'a.tool.input.anyOf']

t.test('each part of a schema that a reference leads to is a component of the document', async t => {
  const document = documentOf(REFERRING)
  const { schemas } = document.components
  t.strictSame(bodyOf(document), { $ref: '#/components/schemas/a.tool.input' })
  t.strictSame(Object.keys(schemas).sort(), [...KEYS, 'Problem', 'Question'].sort())
  const node = { $ref: '#/components/schemas/a.tool.input.no_de' }
  const of = { $ref: '#/components/schemas/a.tool.input.anyOf' }
  t.match(schemas['a.tool.input'], {
    properties: {
      tree: { $ref: '#/components/schemas/a.tool.input.tree' },
      again: { $ref: '#/components/schemas/a.tool.input.tree' },
      kept: { const: { $ref: '#/$defs/x' } },
      other: { $ref: undefined, description: /not a part of this document/ },
      $ref: { type: 'string' },
      either: { anyOf: [of, of] }
    },
    additionalProperties: true
  })
  t.strictSame(schemas['a.tool.input.tree'], node)
  t.strictSame(schemas['a.tool.input.anyOf'], { type: 'object', properties: { any: {} } })
})

t.test('no part of the arguments leads back to itself, as importers follow references to their ends', async t => {
  const { schemas } = documentOf(REFERRING).components
  const again = { $ref: undefined, description: /again the form/ }
  t.match(schemas['a.tool.input'], { properties: { self: again } })
  t.match(schemas['a.tool.input.no_de'], { properties: { children: { type: 'array', items: again } } })
  const outwards = documentOf({}, DESCRIBED, REFERRING).components.schemas
  t.match(outwards['a.tool.output'], { properties: { self: { $ref: '#/components/schemas/a.tool.output' } } })
  t.match(outwards['a.tool.output.no_de'], {
    properties: { children: { items: { $ref: '#/components/schemas/a.tool.output.no_de' } } }
  })
})

t.test('a chain of 20,000 references, and definitions that all refer to all, are placed', async t => {
  const many = (count: number, make: (index: number) => object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, make(index)]))
  const chain = documentOf({ $ref: '#/$defs/d0', $defs: many(20_000, index => ({ $ref: `#/$defs/d${(index + 1) % 20_000}` })) })
  t.match(chain.components.schemas['a.tool.input.d19999'], { description: /again the form/ })
  const to = (index: number): object => ({ $ref: `#/$defs/d${index}` })
  const all = documentOf({ ...to(0), $defs: many(100, () => ({ properties: many(100, to) })) })
  t.equal(Object.keys(all.components.schemas).length, 103)
  const expanded = (schema: unknown): number => {
    const { $ref, properties = {} } = schema as { $ref?: string, properties?: object }
    if ($ref !== undefined) return expanded(all.components.schemas[$ref.slice('#/components/schemas/'.length)])
    return Object.values(properties).reduce((sum: number, each) => sum + expanded(each), 1)
  }
  t.ok(expanded(bodyOf(all)) < 1_000_000)
})

t.test('a credential is described where callers need one', async t => {
  t.equal(documentOf({}).security, undefined)
  t.match(documentOf({}, { ...DESCRIBED, isGuarded: true }), {
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }
  })
})

t.test('texts of a query become what the schema has for them, and stay texts where they do not fit', async t => {
  const schema = {
    $defs: { Count: { type: 'integer' } },
    properties: {
      n: { $ref: '#/$defs/Count' },
      either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      list: { type: 'array', items: { type: 'number' } },
      level: { enum: [1, 2] },
      text: { type: 'string' },
      loop: { $ref: '#/properties/loop' }
    }
  }
  const read = (text: string): object => queryArguments(Object.fromEntries(new URLSearchParams(text)), schema)
  t.strictSame(read('n=3&either=null&list=1&level=2&text=5&loop=x&more=7'), {
    n: 3, either: null, list: [1], level: 2, text: '5', loop: 'x', more: '7'
  })
  t.strictSame(read('n=0x10&either=&list=[1,2]&text=true'), { n: '0x10', either: '', list: [1, 2], text: 'true' })
  t.strictSame(read('list=[1,'), { list: ['[1,'] })
  t.strictSame(queryArguments({ n: ['1', '2'], list: ['1', 'x'] }, schema), { n: ['1', '2'], list: [1, 'x'] })
  t.strictSame(queryArguments({ a: '1' }, undefined), { a: '1' })
})
