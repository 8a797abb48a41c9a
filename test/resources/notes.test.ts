import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { folder } from '../support/process.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { ERAS, Speaker } from '../support/speaker.js'

const LIST_CHANGED = 'notifications/resources/list_changed'
const UPDATED = 'notifications/resources/updated'
const TEMPLATE = 'note:///{id}'

async function withNotes (t: Test, contents: string[], options: object = {}): Promise<FastifyInstance> {
  const app = await gateway(t, { http: false, plugins: [], ...options })
  for (const content of contents) await app.mcp.notes.add(undefined, content, [])
  return app
}

async function complete (speaker: Speaker, value: string): Promise<Json> {
  return (
    await speaker.request('completion/complete', {
      ref: { type: 'ref/resource', uri: TEMPLATE },
      argument: { name: 'id', value }
    })
  ).result.completion as Json
}

for (const version of ERAS) {
  t.test(`${version}: a note is a resource behind a template`, async t => {
    const app = await withNotes(t, ['first line\nsecond'])
    const speaker = new Speaker(app, { version })
    const titled = version >= '2025-06-18'
    const { result: { resourceTemplates } } = await speaker.request('resources/templates/list')
    t.strictSame(
      (resourceTemplates as Json[]).find(({ uriTemplate }) => uriTemplate === TEMPLATE),
      {
        uriTemplate: TEMPLATE,
        name: 'note',
        ...(titled ? { title: 'Note' } : {}),
        description: 'A note, by its id',
        mimeType: 'text/plain'
      }
    )
    const { result: { resources } } = await speaker.request('resources/list')
    t.strictSame(
      (resources as Json[]).find(({ uri }) => uri === 'note:///1'),
      { uri: 'note:///1', name: 'Note 1', ...(titled ? { title: 'first line' } : {}), mimeType: 'text/plain' }
    )
    const { result } = await speaker.request('resources/read', { uri: 'note:///1' })
    t.strictSame(result.contents, [{ uri: 'note:///1', mimeType: 'text/plain', text: 'first line\nsecond' }])
    for (const uri of ['note:///2', 'note:///', 'note:///01', 'note:///abc', 'note:///1/2', 'note:///%31%00']) {
      t.match(
        await speaker.request('resources/read', { uri }),
        {
          error: {
            code: version === '2026-07-28' ? -32602 : -32002,
            message: `Resource not found: ${uri}`,
            data: { uri }
          }
        },
        uri
      )
    }
  })

  t.test(`${version}: adding and deleting a note changes the list`, async t => {
    const app = await withNotes(t, [])
    const [speaker, other] = [new Speaker(app, { version }), new Speaker(app)]
    if (version === '2026-07-28') {
      await speaker.listen({ resourcesListChanged: true, resourceSubscriptions: ['note:///1'] })
    } else await speaker.subscribe('note:///1')
    await other.tool('add_note', { content: 'a' })
    t.match(await speaker.next(UPDATED), { uri: 'note:///1' })
    await speaker.next(LIST_CHANGED)
    await other.tool('delete_note', { id: '1', confirm: true })
    t.match(await speaker.next(UPDATED), { uri: 'note:///1' })
    await speaker.next(LIST_CHANGED)
    await other.tool('delete_note', { id: '1', confirm: true })
    await other.tool('get_notes')
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(speaker.notifications, [], 'what changed nothing is no news')
  })
}

t.test('many notes in one turn are one change of the list', async t => {
  const app = await withNotes(t, [])
  const speaker = new Speaker(app)
  await Promise.all(Array.from({ length: 20 }, async () => await app.mcp.notes.add(undefined, 'a', [])))
  await speaker.next(LIST_CHANGED)
  t.strictSame(speaker.notifications, [])
})

t.test('2026-07-28: what may be kept, and by whom', async t => {
  const speaker = new Speaker(await withNotes(t, ['a']), { version: '2026-07-28' })
  t.match(
    (await speaker.request('resources/list')).result,
    { ttlMs: 0, cacheScope: 'private' },
    "a list with notes changes at any time and is somebody's"
  )
  t.match((await speaker.request('resources/read', { uri: 'note:///1' })).result, { ttlMs: 0, cacheScope: 'private' })
  t.match((await speaker.request('resources/read', { uri: 'server://counter' })).result, {
    ttlMs: 0,
    cacheScope: 'private'
  })
  t.match((await speaker.request('resources/templates/list')).result, { ttlMs: 60_000, cacheScope: 'public' })
  const early = await new Speaker(await withNotes(t, ['a'])).request('resources/list')
  t.notOk('ttlMs' in early.result)
})

t.test('a title is the first line that is not blank, cut to a limit', async t => {
  const TITLES: Array<[content: string, title: string]> = [
    ['\n\n  hello \n world', 'hello'],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
    ['🦊'.repeat(61), `${'🦊'.repeat(59)}…`],
    ['one\r\ntwo', 'one']
  ]
  const app = await withNotes(t, TITLES.map(([content]) => content))
  const { result } = await new Speaker(app).request('resources/list')
  t.strictSame(
    (result.resources as Json[]).filter(({ uri }) => String(uri).startsWith('note:')).map(({ title }) => title),
    TITLES.map(([, title]) => title)
  )
})

t.test('ids are completed, the newest first', async t => {
  for (const data of [undefined, await folder(t, {})]) {
    const app = await withNotes(
      t,
      Array.from({ length: 120 }, (_, index) => `${index}`),
      data === undefined ? {} : { data }
    )
    const speaker = new Speaker(app)
    t.strictSame(await complete(speaker, '11'), {
      values: ['119', '118', '117', '116', '115', '114', '113', '112', '111', '110', '11'],
      total: 11,
      hasMore: false
    })
    t.strictSame(await complete(speaker, '7'), {
      values: ['79', '78', '77', '76', '75', '74', '73', '72', '71', '70', '7'],
      total: 11,
      hasMore: false
    })
    t.match(await complete(speaker, ''), {
      values: Array.from({ length: 100 }, (_, index) => `${120 - index}`),
      total: 120,
      hasMore: true
    })
    t.strictSame(await complete(speaker, 'x'), { values: [], total: 0, hasMore: false })
    await app.mcp.notes.delete(undefined, '11')
    t.match(await complete(speaker, '11'), { total: 10 })
  }
})

t.test('ids of long notes are completed like any other', async t => {
  const app = await withNotes(t, Array.from({ length: 20 }, () => 'x'.repeat(65_536)))
  t.match(await complete(new Speaker(app), ''), {
    values: Array.from({ length: 20 }, (_, index) => `${20 - index}`),
    total: 20
  })
})

t.test('a note in a list is read by the URI it is listed with', async t => {
  const app = await withNotes(t, ['a', 'b', 'c'])
  const speaker = new Speaker(app)
  const { result } = await speaker.request('resources/list')
  const uris = (result.resources as Array<{ uri: string }>).map(({ uri }) => uri).filter(uri => uri.startsWith('note:'))
  const texts = await Promise.all(
    uris.map(
      async uri => ((await speaker.request('resources/read', { uri })).result.contents as [{ text: string }])[0].text
    )
  )
  t.strictSame(texts, ['a', 'b', 'c'])
})
