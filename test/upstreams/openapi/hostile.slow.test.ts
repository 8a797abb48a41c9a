import t, { type Test } from 'tap'
import { readApi, type Api } from '../../../upstreams/openapi/api.js'
import { parseDocument } from '../../../upstreams/openapi/document/parse.js'
import type { Operation } from '../../../upstreams/openapi/operations/operation.js'
import { toRequest, WrongArguments } from '../../../upstreams/openapi/request/request.js'

type Json = Record<string, unknown>

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']
/** What a document may cost, in milliseconds of CPU time: what took longest took half a minute. */
const MOST = 4_000

async function read (text: string, name: string): Promise<Api> {
  const document = await parseDocument(Buffer.from(text), name)
  const address = {
    kind: 'openapi' as const, document: name, url: 'http://127.0.0.1:9/base', headers: {}, operations: { methods: METHODS, outputSchema: true }
  }
  return await readApi(document, address, { maxOperations: 10_000, maxSchema: 32_768 })
}

const many = (count: number, make: (index: number) => [string, unknown]): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)))
const documentOf = (paths: object, schemas: unknown = {}): Json =>
  ({ openapi: '3.0.0', info: { title: 'x', version: '1' }, paths, components: { schemas } })
const taking = (schema: unknown): object => {
  const content = { 'application/json': { schema } }
  return { post: { requestBody: { content }, responses: { 200: { content } } } }
}
const to = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const everyOther = (count: number): Json =>
  many(count, index => [`S${index}`, { type: 'object', properties: many(count, other => [`p${other}`, to(`S${other}`)]) }])

const NESTED = `${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`
const BOMB = Array.from({ length: 30 }, (_, level) =>
  `b${level}: &b${level} {type: object, properties: {l: ${level === 0 ? 1 : `*b${level - 1}`}, r: ${level === 0 ? 1 : `*b${level - 1}`}}}`).join('\n')

const HOSTILE: Record<string, Json | string> = {
  'references to 5,000 schemas': documentOf(
    { '/a': taking({ type: 'array', items: { type: 'object', properties: many(5_000, index => [`p${index}`, to(`S${index}`)]) } }) },
    many(5_000, index => [`S${index}`, { type: 'string' }])
  ),
  'nested 20,000 deep': JSON.stringify(documentOf({ '/a': taking('NESTED') })).replaceAll('"NESTED"', NESTED),
  'schemas that all refer to all': documentOf(many(200, index => [`/a${index}`, taking(to(`S${index}`))]), everyOther(200)),
  'a reference to itself': documentOf({ '/a': taking(to('A')), '/b': { $ref: '#/paths/~1b' } }, { A: to('A') }),
  'allOf of itself': documentOf({ '/a': taking(to('A')) }, { A: { allOf: [to('A'), to('A')] } }),
  'wrong types': documentOf({
    '/a': { get: { parameters: {}, responses: [], tags: 3, operationId: {} }, post: 3, put: { parameters: [null], requestBody: [] } },
    '/b': null,
    '/c': [],
    '/d': taking({ type: [], properties: [], required: {}, enum: 3, items: [3], allOf: {}, $ref: 3 }),
    x: {}
  }, []),
  'a reference to the document': documentOf({ '/a': taking({ $ref: '#' }) }),
  'references to the paths': documentOf(many(200, index => [`/a${index}`, taking({ $ref: '#/paths' })])),
  'ids of 2,000 characters': documentOf(many(2_000, index => [`/a${index}`, { get: { operationId: 'x'.repeat(2_000) } }])),
  '100,000 operations': documentOf(many(100_000, index => [`/a${index}`, { get: {} }])),
  '100,000 values': documentOf({ '/a': taking({ enum: Array.from({ length: 100_000 }, (_, index) => `v${index}`) }) }),
  'a path of 20,000 parameters': documentOf({ [`/${Object.keys(many(20_000, index => [`{p${index}}`, 0])).join('/')}`]: { get: {} } }),
  'a path of braces': documentOf({ [`/${'{'.repeat(100_000)}`]: { get: {} }, [`/x${'{}'.repeat(50_000)}`]: { get: {} } }),
  'a long gap in a text': documentOf({ '/a': { get: { summary: `x${' '.repeat(1_000_000)}x` } } }),
  'anchors that double': `openapi: 3.0.0\n${BOMB}\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: *b29}}}}}}\n`,
  'anchors that hold themselves': 'openapi: 3.0.0\npaths: &p {/a: {get: *p}}\n'
}

for (const [what, document] of Object.entries(HOSTILE)) {
  t.test(`a document with ${what} costs little, and breaks nothing`, async t => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    const before = process.cpuUsage()
    const outcome = await read(text, text.startsWith('{') ? 'x.json' : 'x.yaml').catch((error: Error) => error.message)
    const { user, system } = process.cpuUsage(before)
    t.ok((user + system) / 1_000 < MOST, `${(user + system) / 1_000} ms`)
    if (typeof outcome === 'string') t.match(outcome, /^it uses anchors more than/)
    else for (const tool of outcome.tools) t.ok(JSON.stringify(tool).length < 40_000)
  })
}

/** A generator of numbers that gives the same ones each time. */
function randomOf (seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

const random = randomOf(20_261_119)
const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T

const PET = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: { type: 'string', nullable: true }, tags: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } }
}
const parameter = (place: string, name: string, style: string): object =>
  ({ in: place, name, style, explode: random(2) === 0, schema: {}, allowReserved: random(2) === 0 })
const SEED = (): Json => documentOf({
  '/pets/{id}.{form}/x;v={v}': {
    parameters: [parameter('path', 'id', 'simple'), parameter('path', 'form', 'label'), parameter('path', 'v', 'matrix')],
    get: { parameters: [parameter('query', 'q', 'deepObject'), parameter('query', 'r', 'form'), parameter('header', 'X-H', 'simple'), parameter('cookie', 'c', 'form')] },
    put: { requestBody: { required: true, content: { 'multipart/form-data': { schema: PET, encoding: { tags: { contentType: 'text/plain' } } } } } },
    post: { requestBody: { content: { 'application/x-www-form-urlencoded': { schema: PET } } } },
    patch: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } }, responses: { 200: { $ref: '#/x' } } }
  }
}, { Pet: PET })

const VALUES: unknown[] = [
  null, true, 0, -1, 1e308, '', '.', '..', '../x', 'a/b', '%2e%2e', 'a\r\nHost: evil', 'é\u{1f600}', '\ud800', '__proto__', [], {}, [[]],
  { a: { b: [1, null] } }, { __proto__: null, constructor: 'x', '\r\n': '\0' }, ['..', '/'], '#/components/schemas/Pet', 'x'.repeat(3_000),
  { $ref: '#/components/schemas/Pet' }, { type: 'object', properties: { a: {} } }, 'application/json'
]

const NAMES = VALUES.filter(value => typeof value === 'string')

/** Changes some values of a document in place. */
function mutate (value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const members = value as Json
    if (random(40) === 0) members[key] = structuredClone(pick(VALUES))
    else if (random(60) === 0) delete members[key]
    else if (random(60) === 0) members[pick(NAMES)] = members[key]
    mutate(members[key])
  }
}

t.test('whatever a document and arguments are, a request stays below its path and has no lines of its own', async t => {
  let requests = 0
  for (let round = 0; round < 3_000; round++) {
    const document = SEED()
    mutate(document)
    const api = await read(JSON.stringify(document), 'x.json').catch((error: Error) => {
      if (!/version of OpenAPI|no OpenAPI document/.test(error.message)) t.fail(error.message)
    })
    for (const operation of api?.operations.values() ?? []) requests += send(operation, JSON.stringify(document), t)
  }
  t.ok(requests > 2_000, `${requests} requests`)
})

function send (operation: Operation, document: string, t: Test): number {
  const { parameters, body } = operation
  const whole = body?.argument === undefined ? [] : [body.argument]
  const names = [...parameters.keys(), ...body?.members ?? [], ...whole]
  const args = Object.fromEntries(names.map(name => [name, pick(VALUES)]))
  const fixed = { query: 'key=secret', headers: ['cookie', 'own=1'], setQuery: new Set(['key']), setCookies: new Set(['own']) }
  try {
    const { path, headers } = toRequest(operation, args, fixed)
    const what = `${path} ${JSON.stringify(headers)} ${JSON.stringify(args)} ${document}`
    const bare = path.split('?')[0] ?? ''
    const template = operation.path.split('#')[0]?.replaceAll(/\{[^{}]+\}/g, 'x').split('?')[0] ?? ''
    if (!path.startsWith('/base/') || bare.split('/').length !== template.split('/').length) t.fail(what)
    if (!/^[\x21-\x7e]+$/.test(path) || /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(bare)) t.fail(what)
    if (headers.some(header => /[\r\n\0]/.test(header)) || headers.length % 2 !== 0) t.fail(what)
    if (headers.some((name, index) => index % 2 === 0 && /^(host|authorization|content-length)$/i.test(name))) t.fail(what)
    return 1
  } catch (error) {
    if (!(error instanceof WrongArguments)) t.fail(`${(error as Error).stack}\n${JSON.stringify(args)} ${document}`)
    return 0
  }
}
