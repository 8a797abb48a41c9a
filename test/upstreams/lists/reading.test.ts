import t from 'tap'
import { readList } from '../../../upstreams/lists/reading/read-list.js'
import { FakeConnection, LIMITS, type Script } from './fake-upstream.js'

const NEVER = new AbortController().signal
const tool = (name: string, more = {}): Record<string, unknown> => ({ name, inputSchema: { type: 'object' }, ...more })
const names = (entries: ReadonlyArray<Record<string, unknown>>): unknown[] => entries.map(({ name }) => name)

/** A server with these pages of tools; the cursor of a page leads to the next one. */
function pages (all: Array<{ tools: unknown, nextCursor?: unknown }>): Script {
  const byCursor = new Map(all.map((page, index) => [index === 0 ? undefined : all[index - 1]?.nextCursor, page]))
  return { answers: { 'tools/list': ({ cursor }) => byCursor.get(cursor) as Record<string, unknown> } }
}

t.test('all pages are read, also where the cursor is an empty text', async t => {
  const connection = new FakeConnection(
    pages([{ tools: [tool('a')], nextCursor: '' }, { tools: [tool('b')], nextCursor: 'x' }, { tools: [tool('c')] }])
  )
  const { entries, warnings } = await readList(connection, 'tools', LIMITS, NEVER)
  t.strictSame(names(entries), ['a', 'b', 'c'])
  t.strictSame(warnings, [])
  t.strictSame(connection.requests.map(({ params }) => params), [{}, { cursor: '' }, { cursor: 'x' }])
})

t.test('a cursor that comes twice ends the list', async t => {
  const connection = new FakeConnection({
    answers: {
      'tools/list': ({ cursor }) => ({ tools: [tool(`t${String(cursor)}`)], nextCursor: cursor === 'a' ? 'b' : 'a' })
    }
  })
  const { entries, warnings } = await readList(connection, 'tools', LIMITS, NEVER)
  t.strictSame(names(entries), ['tundefined', 'ta', 'tb'])
  t.match(warnings, [/came twice/])
})

t.test('a cursor that is no text ends the list', async t => {
  const { entries, warnings } = await readList(
    new FakeConnection(pages([{ tools: [tool('a')], nextCursor: 7 }])),
    'tools',
    LIMITS,
    NEVER
  )
  t.strictSame(names(entries), ['a'])
  t.match(warnings, [/is not text/])
})

t.test('a cursor of absurd length ends the list', async t => {
  const connection = new FakeConnection({
    answers: {
      'tools/list': ({ cursor = '' }) => ({
        tools: [tool(`t${String(cursor).length}`)],
        nextCursor: `${String(cursor)}${'x'.repeat(50_000)}`
      })
    }
  })
  const { entries, warnings } = await readList(connection, 'tools', LIMITS, NEVER)
  t.strictSame(names(entries), ['t0', 't50000'])
  t.match(warnings, [/has more than 65536 characters/])
})

t.test('an endless list ends at the limit of pages', async t => {
  const connection = new FakeConnection({
    answers: {
      'tools/list': ({ cursor = 0 }) => ({
        tools: [tool(`t${String(cursor)}`)],
        nextCursor: String(Number(cursor) + 1)
      })
    }
  })
  const { entries, warnings } = await readList(connection, 'tools', { ...LIMITS, maxUpstreamPages: 3 }, NEVER)
  t.equal(entries.length, 3)
  t.equal(connection.requests.length, 3)
  t.match(warnings, [/more than 3 pages \(limit maxUpstreamPages\)/])
})

t.test('a long list ends at the limit of entries, and at that of characters', async t => {
  const tools = Array.from({ length: 50 }, (_, index) => tool(`t${index}`))
  const few = await readList(new FakeConnection({ tools }), 'tools', { ...LIMITS, maxUpstreamEntries: 7 }, NEVER)
  t.equal(few.entries.length, 7)
  t.match(few.warnings, [/more than 7 entries \(limit maxUpstreamEntries\)/])
  const short = await readList(new FakeConnection({ tools }), 'tools', { ...LIMITS, maxUpstreamList: 200 }, NEVER)
  t.ok(short.entries.length > 2 && short.entries.length < 7)
  t.match(short.warnings, [/longer than 200 characters \(limit maxUpstreamList\)/])
})

t.test('one bad tool is left out and named, the others are kept as they are', async t => {
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`) as object
  const foreign = tool('foreign', {
    inputSchema: { $schema: 'urn:other-dialect', type: 'object', properties: { a: { type: 'nonsense' } } },
    vendor: { x: 1 }
  })
  const tools = [
    tool('good'),
    null,
    'text',
    { inputSchema: {} },
    { name: '', inputSchema: {} },
    tool('deep', { inputSchema: deep }),
    tool('long', { description: 'x'.repeat(1_000) }),
    tool('good', { description: 'again' }),
    foreign
  ]
  const { entries, warnings } = await readList(
    new FakeConnection({ tools: tools as Array<Record<string, unknown>> }),
    'tools',
    { ...LIMITS, maxUpstreamEntry: 900 },
    NEVER
  )
  t.strictSame(entries, [tool('good'), foreign])
  t.equal(warnings.length, 7)
  t.match(warnings, [
    /without a name is left out: it is not an object/,
    /not an object/,
    /it has no "name"/,
    /it has no "name"/,
    /"deep" is left out: it is nested deeper/,
    /"long" is left out: it is longer than 900 characters \(limit maxUpstreamEntry\)/,
    /"good" is left out: there is one of that name/
  ])
})

t.test('a tool with too many values is left out at the limit', async t => {
  const tools = [tool('fine', { x: [1, 2, 3] }), tool('wide', { x: Array.from({ length: 60 }, () => 1) })]
  const { entries, warnings } = await readList(
    new FakeConnection({ tools }),
    'tools',
    { ...LIMITS, maxUpstreamEntryValues: 50 },
    NEVER
  )
  t.strictSame(names(entries), ['fine'])
  t.match(warnings, [/"wide" is left out: it has more than 50 values \(limit maxUpstreamEntryValues\)/])
})

t.test('a tool with a wrong x-mcp-header is left out where headers are mirrored, and only there', async t => {
  const tools = [
    tool('wrong', { inputSchema: { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } } }),
    tool('fine')
  ]
  const overHttp = await readList(
    new FakeConnection({ tools, modern: true, transport: 'http' }),
    'tools',
    LIMITS,
    NEVER
  )
  t.strictSame(names(overHttp.entries), ['fine'])
  t.match(overHttp.warnings, [/"wrong" is left out: x-mcp-header/])
  for (const script of [{ tools, modern: true }, { tools, transport: 'http' as const }]) {
    t.strictSame(names((await readList(new FakeConnection(script), 'tools', LIMITS, NEVER)).entries), ['wrong', 'fine'])
  }
})

t.test('warnings are few, however many entries are bad', async t => {
  const { warnings } = await readList(
    new FakeConnection({ tools: Array.from({ length: 500 }, (_, index) => ({ title: `t${index}` })) }),
    'tools',
    LIMITS,
    NEVER
  )
  t.equal(warnings.length, 21)
  t.equal(warnings.at(-1), 'and 480 more')
})

t.test('the caching hints of pages are merged to the least', async t => {
  const page = (ttlMs: unknown, cacheScope: unknown, nextCursor?: string): { tools: unknown } =>
    ({ tools: [], ttlMs, cacheScope, ...(nextCursor === undefined ? {} : { nextCursor }) }) as { tools: unknown }
  t.strictSame(
    (await readList(new FakeConnection(pages([page(500, 'public', 'a'), page(100, 'public')])), 'tools', LIMITS, NEVER))
      .hints,
    { ttlMs: 100, cacheScope: 'public' }
  )
  t.strictSame(
    (
      await readList(
        new FakeConnection(pages([page(500, 'private', 'a'), page(900, 'public')])),
        'tools',
        LIMITS,
        NEVER
      )
    ).hints,
    { ttlMs: 500, cacheScope: 'private' }
  )
  t.equal(
    (await readList(new FakeConnection(pages([page('soon', 'public')])), 'tools', LIMITS, NEVER)).hints,
    undefined
  )
})

/** Entries that note in which turn of the event loop each of them was looked at. */
function notedTools (count: number, turn: () => number, seen: Map<number, number>): Array<Record<string, unknown>> {
  return Array.from({ length: count }, (_, index) =>
    Object.defineProperty(tool(`t${index}`, { description: 'x'.repeat(500) }), 'title', {
      enumerable: true,
      get: () => {
        seen.set(turn(), (seen.get(turn()) ?? 0) + 1)
        return 'title'
      }
    })
  )
}

t.test('templates have a limit of their own, because a URI that is read is compared with each', async t => {
  const templates = Array.from({ length: 5 }, (_, index) => ({ name: `t${index}`, uriTemplate: `{+a${index}*}!` }))
  const { entries, warnings } = await readList(
    new FakeConnection({ templates }),
    'templates',
    { ...LIMITS, maxUpstreamTemplates: 3 },
    NEVER
  )
  t.strictSame(names(entries), ['t0', 't1', 't2'])
  t.match(warnings, [/more than 3 entries \(limit maxUpstreamTemplates\)/])
})

t.test('a long list is checked over many turns, in which everything else goes on', async t => {
  let [turn, isRead] = [0, false]
  const next = (): void => {
    turn++
    if (!isRead) setImmediate(next)
  }
  const seen = new Map<number, number>()
  const tools = notedTools(10_000, () => turn, seen)
  setImmediate(next)
  const { entries } = await readList(new FakeConnection({ tools }), 'tools', LIMITS, NEVER)
  isRead = true
  const looks = [...seen.values()]
  t.equal(entries.length, 10_000)
  t.ok(seen.size >= 40, `${seen.size} turns`)
  t.ok(
    Math.max(...looks) <= looks.reduce((sum, count) => sum + count, 0) / 30,
    'none has more than a small part of the work'
  )
})

t.test('entries that did not change are those of before, and so is a list of them', async t => {
  const read = async (tools: Array<Record<string, unknown>>, former?: ReadonlyArray<Record<string, unknown>>) =>
    (await readList(new FakeConnection({ tools }), 'tools', LIMITS, NEVER, former)).entries
  const first = await read([tool('a'), tool('b')])
  t.equal(await read([tool('a'), tool('b')], first), first)
  const changed = await read([tool('a', { title: 'new' }), tool('b')], first)
  t.not(changed[0], first[0])
  t.equal(changed[1], first[1])
  for (const other of [[tool('b'), tool('a')], [tool('a')], [tool('a'), tool('b'), tool('c')], []]) {
    t.strictSame(await read(other, first), other)
  }
})
