import t from 'tap'
import { checkHeaders, mirrorsOf, type Mirror } from '../../../protocol/http/mirrored-headers.js'

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`
const marked = (name: unknown, type = 'string') => ({ type, 'x-mcp-header': name })
const object = (properties: object) => ({ type: 'object', properties })

t.test('annotations are read from properties at any depth', async t => {
  const mirrors = mirrorsOf(
    object({
      region: marked('Region'),
      plain: { type: 'string' },
      order: object({ total: marked('Order-Total', 'integer'), paid: marked('Paid', 'boolean') })
    })
  )
  t.strictSame(mirrors, [
    { header: 'Mcp-Param-Region', path: ['region'] },
    { header: 'Mcp-Param-Order-Total', path: ['order', 'total'] },
    { header: 'Mcp-Param-Paid', path: ['order', 'paid'] }
  ])
})

const MISPLACED: Array<[where: string, schema: object]> = [
  ['in items', object({ list: { type: 'array', items: marked('A') } })],
  ['in prefixItems', object({ list: { type: 'array', prefixItems: [marked('A')] } })],
  ['in a oneOf', { ...object({}), oneOf: [object({ a: marked('A') })] }],
  ['in an anyOf of a property', object({ a: { anyOf: [marked('A')] } })],
  ['in an allOf', { ...object({}), allOf: [object({ a: marked('A') })] }],
  ['in a then', { ...object({}), if: {}, then: object({ a: marked('A') }) }],
  ['in a definition', { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: marked('A') } }],
  ['in additionalProperties', { ...object({}), additionalProperties: marked('A') }],
  ['in patternProperties', { ...object({}), patternProperties: { x: marked('A') } }],
  ['on the schema itself', { ...object({}), 'x-mcp-header': 'A' }]
]

for (const [where, schema] of MISPLACED) {
  t.test(`an annotation ${where} is refused`, async t =>
    t.throws(() => mirrorsOf(schema as Record<string, unknown>), /x-mcp-header/)
  )
}

for (const name of ['', 'a b', 'a:b', 'é', 'a\r\nb', 'a/b', 7, null, true]) {
  t.test(`the header name ${JSON.stringify(name)} is refused`, async t =>
    t.throws(() => mirrorsOf(object({ a: marked(name) })), /is not a header name/)
  )
}

for (const type of ['number', 'object', 'array', 'null', undefined]) {
  t.test(`an annotation on a property of type ${type} is refused`, async t => {
    t.throws(() => mirrorsOf(object({ a: { type, 'x-mcp-header': 'A' } })), /string, integer or boolean/)
  })
}

t.test('two properties may not use one header, in whatever case', async t => {
  t.throws(() => mirrorsOf(object({ a: marked('Region'), b: marked('REGION') })), /same x-mcp-header/)
})

t.test('a property that is called x-mcp-header is a property like any other', async t => {
  t.strictSame(mirrorsOf(object({ 'x-mcp-header': { type: 'string' } })), [])
  t.strictSame(
    mirrorsOf({ ...object({ a: { type: 'object', default: { 'x-mcp-header': 'A' } } }) }),
    [],
    'nor is a value an annotation'
  )
})

const MIRRORS: Mirror[] = [{ header: 'Mcp-Param-Region', path: ['order', 'region'] }]
const region = (value: unknown) => ({ order: { region: value } })

const AGREE: Array<[what: string, header: string, value: unknown]> = [
  ['the same text', 'eu-west', 'eu-west'],
  ['text in Base64', base64('Zürich 😀'), 'Zürich 😀'],
  ['text with blanks around it, in Base64', base64(' x '), ' x '],
  ['empty text in Base64', base64(''), ''],
  ['text that only looks like Base64', '=?base64?x', '=?base64?x'],
  ['an integer', '42', 42],
  ['an integer written with a fraction of nothing', '42.0', 42],
  ['a negative integer', '-7', -7],
  ['true', 'true', true],
  ['false', 'false', false]
]

for (const [what, header, value] of AGREE) {
  t.test(`${what}: header and body agree`, async t => {
    t.doesNotThrow(() => checkHeaders.params({ 'mcp-param-region': header }, MIRRORS, region(value)))
  })
}

const DISAGREE: Array<[what: string, header: string | undefined, value: unknown]> = [
  ['other text', 'us-east', 'eu-west'],
  ['text in another case', 'EU-WEST', 'eu-west'],
  ['no header', undefined, 'eu-west'],
  ['an empty header', '', 'eu-west'],
  ['another integer', '43', 42],
  ['an integer in hexadecimal', '0x2a', 42],
  ['an empty header for zero', '', 0],
  ['text for an integer', 'many', 42],
  ['another case of true', 'True', true],
  ['one for true', '1', true],
  ['Base64 without its padding', '=?base64?SGVsbG8?=', 'Hello'],
  ['Base64 with something else inside', '=?base64?SGVs!bG8=?=', 'Hello'],
  ['text that is not ASCII', 'Z\u00fcrich', 'Z\u00fcrich'],
  ['a control character', 'a\u0007b', 'a\u0007b'],
  ['Base64 of what is not UTF-8', '=?base64?/w==?=', '\ufffd'],
  ['a header for a value that is not there', 'eu-west', undefined],
  ['a header for null', 'null', null]
]

for (const [what, header, value] of DISAGREE) {
  t.test(`${what}: -32020 and HTTP 400`, async t => {
    t.throws(() => checkHeaders.params({ 'mcp-param-region': header }, MIRRORS, region(value)), {
      code: -32020,
      status: 400,
      message: /Mcp-Param-Region/
    })
  })
}

t.test('a value that is not there needs no header', async t => {
  for (const args of [{}, { order: 'x' }, { order: null }, region(undefined), region(null)]) {
    t.doesNotThrow(() => checkHeaders.params({}, MIRRORS, args))
  }
})

t.test('the method and the name are repeated in headers', async t => {
  const request = { kind: 'request' as const, id: 1, method: 'tools/call', params: { name: 'echo' }, meta: {}, selfDescribed: true, size: 0 }
  t.doesNotThrow(() => checkHeaders.message({ 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, request))
  t.doesNotThrow(() => checkHeaders.message({ 'mcp-method': ' tools/call ', 'mcp-name': base64('echo') }, request))
  t.throws(() => checkHeaders.message({ 'mcp-method': 'tools/list', 'mcp-name': 'echo' }, request), {
    code: -32020,
    message: /Mcp-Method/
  })
  t.throws(() => checkHeaders.message({ 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' }, request), {
    code: -32020,
    message: 'Header mismatch: Mcp-Method is missing'
  })
  t.throws(() => checkHeaders.message({ 'mcp-method': 'tools/call' }, request), {
    code: -32020,
    message: /Mcp-Name is missing/
  })
  t.throws(() => checkHeaders.message({ 'mcp-method': 'tools/call', 'mcp-name': 'other' }, request), {
    code: -32020,
    message: /Mcp-Name/
  })
})

t.test('each method that names something repeats that, and others repeat nothing', async t => {
  const ask = (method: string, params: object) => ({
    kind: 'request' as const,
    id: 1,
    method,
    params: params as Record<string, unknown>,
    meta: {},
    selfDescribed: true,
    size: 0
  })
  t.doesNotThrow(() =>
    checkHeaders.message(
      { 'mcp-method': 'resources/read', 'mcp-name': 'a://b' },
      ask('resources/read', { uri: 'a://b' })
    )
  )
  t.throws(() => checkHeaders.message({ 'mcp-method': 'resources/read' }, ask('resources/read', { uri: 'a://b' })), {
    code: -32020
  })
  t.throws(() => checkHeaders.message({ 'mcp-method': 'prompts/get' }, ask('prompts/get', { name: 'p' })), {
    code: -32020
  })
  t.doesNotThrow(() => checkHeaders.message({ 'mcp-method': 'tools/list' }, ask('tools/list', { name: 'p' })))
})

t.test('the version is repeated in a header', async t => {
  const request = { kind: 'request' as const, id: 1, method: 'tools/call', params: { name: 'echo' }, meta: {}, selfDescribed: true, size: 0 }
  const named = { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  t.doesNotThrow(() => checkHeaders.version({ 'mcp-protocol-version': '2026-07-28' }, '2026-07-28', request))
  t.throws(() => checkHeaders.version({ 'mcp-protocol-version': '2025-11-25' }, '2026-07-28', request), {
    code: -32020
  })
  t.throws(() => checkHeaders.version(named, '2026-07-28', request), {
    code: -32020,
    message: 'Header mismatch: MCP-Protocol-Version is missing'
  })
})

t.test('all headers that are missing are named at once', async t => {
  const request = {
    kind: 'request' as const,
    id: 1,
    method: 'tools/call',
    params: { name: 'echo' },
    meta: {},
    selfDescribed: true,
    size: 0
  }
  t.throws(() => checkHeaders.version({}, '2026-07-28', request), {
    code: -32020,
    message: 'Header mismatch: MCP-Protocol-Version, Mcp-Method and Mcp-Name are missing'
  })
  t.throws(() => checkHeaders.message({ 'mcp-protocol-version': '2026-07-28' }, request), {
    code: -32020,
    message: 'Header mismatch: Mcp-Method and Mcp-Name are missing'
  })
  const mirrors: Mirror[] = ['A', 'B', 'C'].map(name => ({ header: `Mcp-Param-${name}`, path: [name] }))
  t.throws(() => checkHeaders.params({}, mirrors, { A: 'x', B: null, C: 'y' }), {
    code: -32020,
    message: 'Header mismatch: Mcp-Param-A and Mcp-Param-C are missing'
  })
})
