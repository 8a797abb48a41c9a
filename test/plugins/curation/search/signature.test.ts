import t from 'tap'
import { describeServers, firstSentence, signatureOf } from '../../../../plugins/curation/search/signature.js'
import { readLabelled } from '../../../../bench/measure/ranking.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

const signature = (properties: Record<string, unknown>, required: unknown = [], more = {}): string => signatureOf('f', { inputSchema: { type: 'object', properties, required, ...more } }).text

t.test('a signature has name, arguments, types, defaults and the first sentence', async t => {
  const { text, isShortened } = signatureOf('github__create_issue', {
    description: 'Opens an issue, e.g. for a bug. It needs the scope repo.',
    inputSchema: {
      properties: { labels: { type: 'array', items: { type: 'string' }, default: [] }, repo: { type: 'string' }, title: { type: 'string' }, draft: { type: 'boolean', default: false } },
      required: ['repo', 'title']
    }
  })
  t.equal(text, 'github__create_issue(repo*: str, title*: str, labels: str[] = [], draft: bool = false) - Opens an issue, e.g. for a bug.')
  t.notOk(isShortened)
  t.strictSame(signatureOf('ping', {}), { text: 'ping()', isShortened: false })
  t.equal(signatureOf('ping', { title: 'Ping it' }).text, 'ping() - Ping it')
})

const types: Array<[schema: unknown, text: string]> = [
  [{ type: 'integer' }, 'int'],
  [{ type: 'constructor' }, 'any'],
  [{ type: 'array', items: { type: 'toString' } }, 'any[]'],
  [{ type: 'number' }, 'num'],
  [{ type: ['string', 'null'] }, 'str'],
  [{ type: ['string', 'integer'] }, 'str|int'],
  [{ enum: ['open', 'closed', 3] }, '"open"|"closed"|3'],
  [{ const: 'x' }, '"x"'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'str'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, '(str|num)[]'],
  [{ type: 'array' }, 'any[]'],
  [{ type: 'object' }, 'obj'],
  [{ type: 'object', properties: { id: { type: 'integer' }, 'a tag': {} }, required: ['id'] }, '{id*: int, "a tag": any}'],
  [{ $ref: '#/$defs/user~1name' }, 'str'],
  [{ allOf: [{ type: 'string' }] }, 'str'],
  [{}, 'any'],
  [true, 'any'],
  [undefined, 'any'],
  [{ type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'object', properties: { c: { type: 'object', properties: { d: {} } } } } } } } }, '{a: {b: {c: obj~}}}'],
  [{ type: 'object', properties: { a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {} } }, 'obj~'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'obj~'],
  [{ enum: Array.from({ length: 50 }, (_, at) => `value${at}`) }, 'str~'],
  [{ enum: ['x'.repeat(1_000)] }, 'str~'],
  [{ $ref: '#/$defs/missing' }, 'any~'],
  [{ $ref: 'https://example.com/schema' }, 'any~'],
  [{ $ref: '#/$defs/__proto__' }, 'any~'],
  [{ type: 'array', items: [{ type: 'string' }] }, 'any[]~'],
  [{ allOf: [{ type: 'object' }, { required: ['a'] }] }, 'obj~']
]
for (const [schema, text] of types) {
  t.test(`the type of ${JSON.stringify(schema)?.slice(0, 80) ?? 'nothing'} is ${text}`, async t => {
    const { text: whole, isShortened } = signatureOf('f', { inputSchema: { properties: { a: schema }, required: ['a'], $defs: { 'user/name': { type: 'string' } } } })
    t.equal(whole, `f(a*: ${text})`)
    t.equal(isShortened, text.includes('~'), 'shortened exactly where it is marked')
  })
}

t.test('names of required arguments are not left out, those of others are counted', async t => {
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`argument_${at}`, { type: 'object', properties: { one: {}, two: {} } }]))
  const required = Object.keys(properties).filter((_, at) => at % 2 === 1)
  const text = signature(properties, required)
  for (const name of required) t.match(text, `${name}*`)
  t.match(text, /, …\+50\)$/)
  t.ok(signatureOf('f', { inputSchema: { properties, required } }).isShortened)
})

t.test('an argument that is required and not described is in the signature', async t => {
  t.equal(signature({ a: { type: 'string' } }, ['b', 'a', 5, 'a']), 'f(b*: any, a*: str)')
})

t.test('names and defaults are quoted or left out where they would mislead', async t => {
  t.equal(signature({ 'a) - Ignore\nthis': {}, $ok: { default: 'x'.repeat(100) }, n: { default: null }, o: { default: { a: 1 } } }), 'f("a) - Ignore\\nthis": any, $ok: any = …, n: any, o: any = …)')
})

t.test('hostile schemas give short texts, in time', async t => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`argument_number_${at}`, { type: 'string' }]))
  const deep = (levels: number): unknown => levels === 0 ? { type: 'string' } : { anyOf: [{ type: 'array', items: deep(levels - 1) }, { type: 'object', properties: { a: { $ref: '#/properties/a' } } }] }
  const wide = (levels: number): unknown =>
    ({ anyOf: levels === 0 ? [] : Array.from({ length: 8 }, () => wide(levels - 1)) })
  const circle = { a: { $ref: '#/properties/b' }, b: { anyOf: [{ $ref: '#/properties/a' }, { $ref: '#' }, { type: 'array', items: { $ref: '#/properties/b' } }] } }
  const cases: Record<string, () => string> = {
    many: () => signature(many),
    'many required': () => signature(many, Object.keys(many)),
    deep: () => signature({ a: deep(60) }),
    wide: () => signature({ a: wide(4) }),
    circle: () => signature(circle, ['a']),
    'long names': () => signature({ ['x'.repeat(100_000)]: {} }, ['x'.repeat(100_000)])
  }
  for (const [name, make] of Object.entries(cases)) {
    t.ok(make().length <= 4_200, `${name}: ${make().length}`)
    t.ok(await bestTime(20, async () => cpuTime(make)) < 20, name)
  }
  t.match(cases['many required']?.(), /…\+\d+ \(\d+ of them required\)\)$/)
})

t.test('the signatures of real tools are short, and say where they are shortened', async t => {
  for (const { name, listed } of readLabelled().tools) {
    const { text, isShortened } = signatureOf(name, listed)
    t.ok(text.length < 1_000 && !text.includes('\n'), text)
    if (isShortened) t.match(text, /[~…]/)
  }
})

t.test('a first sentence ends where it ends', async t => {
  t.equal(firstSentence('Version 2.5 reads files. Then more.', 100), 'Version 2.5 reads files.')
  t.equal(firstSentence('  Reads\n  files\n\nSecond paragraph', 100), 'Reads files')
  t.equal(firstSentence('Really? Yes.', 100), 'Really?')
  t.equal(firstSentence('查询天气。更多', 100), '查询天气。')
  t.equal(firstSentence('one two three four', 12), 'one two…')
  t.equal(firstSentence('x'.repeat(50), 12), `${'x'.repeat(12)}…`)
  t.equal(firstSentence('x'.repeat(11) + '😀', 12), `${'x'.repeat(11)}…`)
  t.equal(firstSentence('a\u001b[31mb', 100), 'a?[31mb')
  t.equal(firstSentence(undefined, 100), '')
  t.ok(firstSentence(' .'.repeat(1_000_000), 100).length <= 101)
})

t.test('servers are described in their own words, sorted, and as far as there is room', async t => {
  const servers = [
    { name: 'slack', instructions: 'Slack' },
    { name: 'github', instructions: 'Works with repositories. Be careful.' },
    { name: 'files', instructions: 'Files on disk' },
    { name: 'none' }
  ]
  const text = 'files (Files on disk), github (Works with repositories.), none, slack'
  t.equal(describeServers(servers, 500), text)
  t.equal(describeServers([...servers].reverse(), 500), text)
  t.equal(describeServers(servers, 45), 'files (Files on disk), github, none, slack')
  t.equal(describeServers(servers, 25), 'files, github and 2 more')
  t.equal(describeServers([], 100), '')
  const many = Array.from({ length: 1_000 }, (_, at) => ({ name: `server${at}`, instructions: 'x'.repeat(10_000) }))
  t.ok(describeServers(many, 1_200).length <= 1_200)
  t.match(describeServers(many, 1_200), /and \d+ more$/)
})
