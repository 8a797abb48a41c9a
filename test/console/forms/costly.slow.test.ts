import t from 'tap'
import { format } from '@cfworker/json-schema'
import type { Json } from '../../../console/client/contract.js'
import { schemaErrors, type FieldError } from '../../../console/forms/check.js'
import { checkInTime, type Checker } from '../../../console/forms/check-in-time.js'
import { newDraft } from '../../../console/forms/draft.js'
import { bestTime, cpuTime } from '../../support/timing.js'
import { openThread } from '../support/check-thread.js'

const check = (value: Json, schema: Json): FieldError[] | undefined => schemaErrors(value, structuredClone(schema))

/** The least time of several attempts, in milliseconds; three seconds are enough of them. */
const least = async (work: () => void): Promise<number> => await bestTime(3_000, async () => cpuTime(work), 3)

const slowUrl = `http://${'a'.repeat(45)}!`

t.test('a URL is checked in the time of its length', async t => {
  for (const schema of [{ format: 'url' }, { additionalProperties: { format: 'url' } }] as Json[]) {
    t.ok(await least(() => check({ a: slowUrl }, schema)) < 3_000, JSON.stringify(schema))
    t.ok(await least(() => check(slowUrl, schema)) < 3_000)
  }
  for (const url of ['https://example.com/', 'http://localhost:8080/a?b=c#d', 'https://127.0.0.1/']) {
    t.same(check(url, { format: 'url' }), [], url)
  }
  for (const url of ['example.com', 'http://a b', '']) {
    t.same(
      check(url, { format: 'url' }),
      [{ at: '', message: 'This must be a whole URL such as https://example.com/.' }],
      url
    )
  }
})

t.test('a format is one of those that are known, and no other member of an object', async t => {
  for (const name of [
    'hasOwnProperty',
    'isPrototypeOf',
    '__proto__',
    'constructor',
    'propertyIsEnumerable',
    7,
    null,
    {}
  ] as Json[]) { t.same(check('x', { format: name }), [], JSON.stringify(name)) }
  t.equal(check('x', { format: 'email' })?.length, 1)
})

const fragments = [
  'a',
  '1',
  '.',
  '-',
  ':',
  '/',
  '%41',
  '@',
  '0',
  'f:',
  '::',
  '{a',
  '{a,',
  'a.',
  'a,',
  '~0',
  '~',
  '#',
  '?',
  'P',
  'T',
  '1D',
  '1M',
  '"',
  '\\a',
  '[',
  '!',
  'é',
  ' ',
  '(?:a',
  '1.'
]
const beginnings = ['', 'http://', 'a:', 'a://', 'P', 'PT', '0', '#', '/', '"', 'a@', '{', '[', 'a@[IPv6:']
const ends = ['', '!', '\n', '@', '%']

/** Texts of 1,000 characters that begin like something of a format, and may end otherwise. */
const texts = beginnings.flatMap(begin =>
  fragments.flatMap(one =>
    ['', ...fragments].flatMap(other =>
      ends.map(end => (begin + (one + other).repeat(1_000)).slice(0, 1_000 - end.length) + end)
    )
  )
)

t.test('every format is checked in the time of the text', async t => {
  for (const name of Object.keys(format)) {
    const few = texts.filter((_, index) => index % 7 === name.length % 7)
    const time = await least(() => { for (const text of few) check(text, { format: name }) })
    t.ok(time < 3_000, `${name}: ${few.length} texts in ${Math.round(time)} ms`)
  }
})

t.test('dependencies of older drafts are checked', async t => {
  const schema: Json = {
    dependencies: { a: ['b', 'pattern'], c: { properties: { d: { minimum: 3 } } }, e: false },
    dependentSchemas: { c: { required: ['f'] } }
  }
  t.same(check({ a: 1, b: 1 }, schema), [
    { at: '/pattern', message: 'This is required, too: another field asks for it.' }
  ])
  t.same(check({ c: 1, d: 1 }, schema), [
    { at: '/f', message: 'This is required.' },
    { at: '/d', message: 'This must be 3 or more.' }
  ])
  t.equal(check({ e: 1 }, schema)?.length, 1)
  t.same(check({ b: 1 }, schema), [])
})

t.test('a pattern that is none says nothing, and what is beside it is checked', async t => {
  const schema: Json = {
    patternProperties: { '(': false, '^x': { type: 'number' } },
    properties: { a: { pattern: '(', minLength: 2 }, pattern: { const: { pattern: '(' } } }
  }
  t.same(check({ a: 'b', x: 1, pattern: { pattern: '(' } }, schema), [
    { at: '/a', message: 'This needs at least 2 characters.' }
  ])
})

const list = (length: number): Json[] => Array.from({ length }, (_, index) => index)
const named = (length: number, name: (index: number) => string, part: Json): Json =>
  Object.fromEntries(list(length).map(index => [name(Number(index)), part]))

/** Values and schemas of a bearable size whose check would take minutes. */
const slow: Record<string, [Json, Json]> = {
  '12,000 times whether items are unique': [list(4_990), { allOf: list(12_000).map(() => ({ uniqueItems: true })) }],
  'whether lists in a list are unique': [
    list(70).map(() => list(70)),
    { allOf: list(12_000).map(() => ({ uniqueItems: true })) }
  ],
  '4,990 items that are none of 10,000 texts': [
    list(4_990),
    { items: { enum: list(10_000).map(index => `text ${String(index)}`) } }
  ],
  '4,990 fields too many, 5,000 times': [
    named(4_990, index => `p${index}`, 1),
    { allOf: list(5_000).map(() => ({ additionalProperties: false })) }
  ],
  'one long name before 1,000 schemas': [
    { a: 1 },
    { properties: { ['n'.repeat(1_000_000)]: { properties: named(1_000, index => `p${index}`, { type: 'string' }) } } }
  ],
  '4,990 items that are none of 4,990 variants': [list(4_990), { items: { anyOf: list(4_990).map(() => false) } }],
  '5,000 patterns for a text': [
    'a'.repeat(1_000),
    { allOf: list(5_000).map(index => ({ pattern: `[a-z]+${String(index)}` })) }
  ],
  '500 patterns for 2,000 names': [
    named(2_000, index => `${'a'.repeat(200)}${index}`, 1),
    { patternProperties: named(500, index => `[a-z]+x${index}`, true) }
  ],
  'variants that contain themselves': [
    { a: {} },
    {
      type: 'object',
      properties: { a: { $ref: '#' } },
      anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }],
      $defs: { a: { type: 'object', required: ['b'], anyOf: list(50).map(() => ({ required: ['c'] })) } }
    }
  ]
}

const levels = Object.fromEntries(
  Array.from({ length: 40 }, (_, level) => [
    `a${level}`,
    { allOf: [{ $ref: `#/$defs/a${level + 1}` }, { $ref: `#/$defs/a${level + 1}` }] }
  ])
)

/** Values and schemas whose check would take years. */
const endless: Record<string, [Json, Json]> = {
  'a pattern': [`${'a'.repeat(60)}!`, { pattern: '^(a+)+$' }],
  'a pattern for names': [{ [`${'a'.repeat(60)}!`]: 1 }, { patternProperties: { '^(a|a)*$': true } }],
  'a pattern behind a reference': [
    { a: `${'a'.repeat(60)}!` },
    { dependencies: { pattern: '^(a+)+$' }, additionalProperties: { $ref: '#/dependencies' } }
  ],
  'references that stand for billions of schemas': [
    1,
    { $ref: '#/$defs/a0', $defs: { ...levels, a40: { type: 'number' } } }
  ]
}

for (const [name, [value, schema]] of Object.entries({ ...slow, ...endless })) {
  t.test(`a check ends with its time, and the page goes on meanwhile: ${name}`, async t => {
    let turns = 0
    const clock = setInterval(() => turns++, 20)
    t.teardown(() => clearInterval(clock))
    const outcome = await checkInTime(value, schema, { ms: 200, open: openThread })
    if (name in endless) t.equal(outcome, 'late')
    else t.ok(outcome === 'late' || Array.isArray(outcome))
    t.ok(turns > 0, 'the event loop was not blocked')
  })
}

t.test('a worker is ended after every outcome, and one that fails says nothing', async t => {
  const ended: string[] = []
  const opener = (name: string, answer: (checker: Checker) => void) => (): Checker => {
    const checker: Checker = {
      onmessage: null,
      onerror: null,
      postMessage: () => answer(checker),
      terminate: () => {
        ended.push(name)
      }
    }
    return checker
  }
  const outcomes = [
    await checkInTime(1, true, {
      open: opener('answered', ({ onmessage }) => {
        onmessage?.({ data: 'ready' })
        onmessage?.({ data: [] })
      })
    }),
    await checkInTime(1, true, { open: opener('not followed', ({ onmessage }) => onmessage?.({ data: undefined })) }),
    await checkInTime(1, true, { open: opener('failed', ({ onerror }) => onerror?.()) }),
    await checkInTime(1, true, {
      open: opener('refused', () => {
        throw new Error('too deep to be cloned')
      })
    }),
    await checkInTime(1, true, { ms: 1, open: opener('late', ({ onmessage }) => onmessage?.({ data: 'ready' })) }),
    await checkInTime(1, true, {
      open: () => {
        throw new Error('no workers here')
      }
    })
  ]
  t.same(outcomes, [[], 'unknown', 'unknown', 'unknown', 'late', 'unknown'])
  t.same(ended, ['answered', 'not followed', 'failed', 'refused', 'late'])
})

t.test('lists and choices of people are checked as a whole', async t => {
  t.equal(check([...list(900), 0], { uniqueItems: true })?.length, 1)
  t.same(check(list(2_000), { uniqueItems: true }), [])
  t.equal(check([...list(5_000), 'x'], { items: { enum: list(5_000) } })?.length, 1)
  t.equal(
    schemaErrors(
      { 'x-a': 'y', b: 1 },
      { patternProperties: { '^x-': { type: 'integer' }, '[a-z]+': true }, additionalProperties: false }
    )?.length,
    1
  )
})

t.test('secrets are looked for in a bearable time, and hidden where that is not enough', async t => {
  const draft = (names: number, length: number, patterns: number) => newDraft({
    type: 'object',
    default: named(names, index => `${'a'.repeat(length)}${index}`, 'canary'),
    patternProperties: named(patterns, index => `[a-z]x${index}`, { format: 'password' })
  })
  for (const size of [[5_000, 1, 5_000], [500, 900, 500]] as Array<[number, number, number]>) {
    const time = await least(() => draft(...size))
    t.ok(time < 3_000, `${size.join(', ')}: ${Math.round(time)} ms`)
  }
  t.match(draft(10, 1, 10).text, /canary/, 'what is no secret is shown')
  t.notMatch(
    newDraft(
      { patternProperties: { '^a': { format: 'password' }, ...(named(5_000, index => `x${index}`, true) as object) } },
      named(1_000, index => `a${index}`, 'canary')
    ).text,
    /canary/
  )
})
