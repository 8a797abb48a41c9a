import t, { type Test } from 'tap'
import { tool, type Options } from '../../app.js'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { TRANSPORTS, through, type Call } from './transports.js'
import { dataOf, ERAS, Speaker, textOf } from '../support/speaker.js'

interface Note { id: string, content: string, tags: string[], created: string }

const STORES: Array<[name: string, options: (t: Test) => Promise<Partial<Options>>]> = [
  ['in memory', async () => ({})],
  ['on disk', async t => ({ data: await folder(t, {}) })]
]

const notesOf = (result: Json): Note[] => (result['structuredContent'] as { notes: Note[] }).notes

const contents = async (call: Call, args: Json = {}): Promise<string[]> =>
  notesOf(await call('get_notes', args)).map(({ content }) => content)

for (const [where, options] of STORES) {
  t.test(`notes ${where}`, async t => {
    const served = await listening(t, await options(t))

    for (const transport of TRANSPORTS) {
      t.test(`${transport}: a note is added, found and deleted`, async t => {
        const call = await through(t, transport, served)
        const before = Date.now()
        const added = await call('add_note', { content: `by ${transport}`, tags: ['x', transport] })
        const { id, uri, created } = added['structuredContent'] as { id: string, uri: string, created: string }
        t.match(added, { content: [{ type: 'text', text: `Note ${id} added` }], isError: false })
        t.match(id, /^[1-9]\d*$/)
        t.equal(uri, `note:///${id}`)
        t.ok(Date.parse(created) >= before && Date.parse(created) <= Date.now())
        const found = await call('get_notes', { tags: [transport] })
        t.strictSame(found['structuredContent'], {
          notes: [{ id, content: `by ${transport}`, tags: ['x', transport], created }],
          more: false
        })
        t.match(found, { content: [{ text: `${id}. by ${transport}\n   (${created}, x, ${transport})` }] })
        t.match(await call('delete_note', { id, confirm: true }), {
          isError: false,
          structuredContent: { id, deleted: true },
          content: [{ text: `Note ${id} deleted` }]
        })
        t.match(await call('get_notes', { tags: [transport] }), {
          structuredContent: { notes: [], more: false },
          content: [{ text: 'There are no such notes' }]
        })
        t.match(await call('delete_note', { id, confirm: true }), {
          isError: true,
          content: [{ text: `There is no note "${id}"; get_notes lists them` }]
        })
      })
    }

    t.test('what one transport is given, all transports give, the newest first', async t => {
      for (const [index, transport] of TRANSPORTS.entries()) {
        await (
          await through(t, transport, served)
        )('add_note', { content: `${index}`, tags: ['shared'] })
      }
      for (const transport of TRANSPORTS) {
        t.strictSame(
          await contents(await through(t, transport, served), { tags: ['shared'] }),
          ['2', '1', '0'],
          transport
        )
      }
    })

    const ODD: Array<[what: string, content: string, tags?: string[]]> = [
      ['a NUL', 'a\0b\0', ['\0']],
      ['an emoji and a family of them', '🦊 👩‍👩‍👧‍👦'],
      ['a lone surrogate', 'lone \ud83e surrogate \udd8a', ['\ud800']],
      ['names that objects have', '__proto__', ['__proto__', 'constructor', 'toString', 'hasOwnProperty']],
      ['line ends, controls and separators', '\r\n\t\u2028\u2029\u0085\u001b[31m\ufeff'],
      ['blanks alone', '   '],
      ['JSON', '{"a":[1,"\\u0000"]}', ['{"$ref":1}']],
      ['combining characters, not normalised', 'e\u0301 \u00e9', ['e\u0301', '\u00e9']],
      ['64 Ki characters', 'x'.repeat(65_536)],
      ['64 Ki characters outside the first plane', '🦊'.repeat(65_536)],
      ['32 tags of 64 characters', 'tags', Array.from({ length: 32 }, (_, index) => String(index).padEnd(64, '🏷'))]
    ]
    for (const [what, content, tags = []] of ODD) {
      t.test(`${what} is kept as it was written`, async t => {
        const call = await through(t, 'WebSocket', served)
        const { id } = (await call('add_note', { content, tags }))['structuredContent'] as Note
        const kept = notesOf(await call('get_notes', { limit: 1 }))[0]
        t.ok(kept?.id === id && kept.content === content, 'the content')
        t.strictSame(kept?.tags, tags)
        for (const tag of tags) t.equal(notesOf(await call('get_notes', { tags: [tag], limit: 1 }))[0]?.id, id, tag)
        const reader = new Speaker(served.app)
        const { result } = await reader.request('resources/read', { uri: `note:///${id}` })
        t.ok((result.contents as [{ text: string }])[0].text === content, 'the resource')
        await call('delete_note', { id, confirm: true })
      })
    }

    t.test('an id is never given twice', async t => {
      const call = await through(t, 'in-process', served)
      const add = async (content: string) => ((await call('add_note', { content }))['structuredContent'] as Note).id
      const first = await add('a')
      await call('delete_note', { id: first, confirm: true })
      const ids = await Promise.all(Array.from({ length: 50 }, async (_, index) => await add(`b${index}`)))
      t.equal(new Set([first, ...ids]).size, 51)
      t.ok(ids.every(id => Number(id) > Number(first)))
      for (const id of ids) await call('delete_note', { id, confirm: true })
    })
  })
}

t.test('tags choose the notes that have any of them; limit takes the newest of these', async t => {
  const speaker = new Speaker(await gateway(t))
  const NOTES: Array<[content: string, tags?: string[]]> = [
    ['a', ['x']],
    ['b', ['y']],
    ['c', ['x', 'y']],
    ['d'],
    ['e', ['z']]
  ]
  for (const [content, tags] of NOTES) {
    await speaker.tool('add_note', { content, ...(tags === undefined ? {} : { tags }) })
  }
  const found = async (args: Json) => {
    const { notes, more } = dataOf<{ notes: Note[], more: boolean }>(await speaker.tool('get_notes', args))
    return [notes.map(({ content }) => content).join(''), more]
  }
  t.strictSame(await found({}), ['edcba', false])
  t.strictSame(await found({ tags: [] }), ['edcba', false])
  t.strictSame(await found({ tags: ['x'] }), ['ca', false])
  t.strictSame(await found({ tags: ['x', 'z'] }), ['eca', false])
  t.strictSame(await found({ tags: ['x', 'x'] }), ['ca', false])
  t.strictSame(await found({ tags: ['nobody', ''] }), ['', false])
  t.strictSame(await found({ tags: ['X'] }), ['', false], 'a tag is what it is')
  t.strictSame(await found({ limit: 2 }), ['ed', true])
  t.strictSame(await found({ limit: 5 }), ['edcba', false])
  t.strictSame(await found({ tags: ['x', 'y'], limit: 2 }), ['cb', true])
  t.strictSame(await found({ tags: ['x', 'y'], limit: 3 }), ['cba', false])
  t.match(dataOf<{ notes: Note[] }>(await speaker.tool('get_notes', { tags: ['z'] })).notes, [{ tags: ['z'] }])
})

t.test('without a limit the newest hundred are given', async t => {
  const speaker = new Speaker(await gateway(t))
  await Promise.all(
    Array.from(
      { length: 450 },
      async (_, index) =>
        await speaker.tool('add_note', { content: String(index), tags: index % 225 === 0 ? ['rare'] : [] })
    )
  )
  const { notes, more } = dataOf<{ notes: Note[], more: boolean }>(await speaker.tool('get_notes'))
  t.strictSame([notes.length, more, notes[0]?.id, notes.at(-1)?.id], [100, true, '450', '351'])
  t.strictSame(
    dataOf<{ notes: Note[] }>(await speaker.tool('get_notes', { limit: 1000 })).notes.map(({ id }) => Number(id)),
    Array.from({ length: 450 }, (_, index) => 450 - index)
  )
  t.strictSame(
    dataOf<{ notes: Note[] }>(await speaker.tool('get_notes', { tags: ['rare'] })).notes.map(({ content }) => content),
    ['225', '0'],
    'however far back'
  )
})

t.test('notes too long for one answer are cut, and the answer states it', async t => {
  const speaker = new Speaker(await gateway(t))
  for (let index = 0; index < 20; index++) {
    await speaker.tool('add_note', { content: String(index).padEnd(65_536, '.') })
  }
  const { notes, more } = dataOf<{ notes: Note[], more: boolean }>(await speaker.tool('get_notes'))
  t.equal(more, true)
  t.ok(notes.length >= 10 && notes.length < 20, `${notes.length} notes`)
  t.ok(notes[0]?.content.startsWith('19.'))
})

t.test('the tools are there in every revision, in its words', async t => {
  const app = await gateway(t, { http: false })
  for (const version of ERAS) {
    const speaker = new Speaker(app, { version })
    const answer = await speaker.tool('add_note', { content: version, tags: [version] })
    t.match(textOf(answer), /^Note \d+ added$/, version)
    t.equal(answer.result.structuredContent !== undefined, version >= '2025-06-18', version)
    t.match(textOf(await speaker.tool('get_notes', { tags: [version] })), new RegExp(`^\\d+\\. ${version}\\n`), version)
  }
})

t.test('notes are there after a restart, and their ids go on', async t => {
  const data = await folder(t, {})
  const first = await gateway(t, { data, http: false })
  for (const content of ['a', 'b']) await new Speaker(first).tool('add_note', { content })
  await new Speaker(first).tool('delete_note', { id: '2', confirm: true })
  await first.close()
  const speaker = new Speaker(await gateway(t, { data, http: false }))
  t.match(dataOf(await speaker.tool('get_notes')), { notes: [{ id: '1', content: 'a' }], more: false })
  t.match(dataOf(await speaker.tool('add_note', { content: 'c' })), { id: '3' })
})

t.test('what a tool keeps under the names of ours is its own, and harms nothing', async t => {
  const keeper = tool({
    name: 'keeper',
    description: 'd',
    run: async (_input, { store }) => {
      for (const [space, key] of [
        ['notes', 'mine'],
        ['notes', '000000000000001'],
        ['note ids', 'notes'],
        ['counter', 'value'],
        ['patchbay', 'secret']
      ] as const) { await store.put(space, key, { at: 1 }) }
      return JSON.stringify(
        await Promise.all(['notes', 'counter'].map(async space => (await store.list(space)).length))
      )
    }
  })
  const app = await gateway(t, { http: false, plugins: [async ({ mcp: { tools } }) => tools.add(keeper)] })
  const speaker = new Speaker(app)
  await speaker.tool('add_note', { content: 'a' })
  await speaker.subscribe('note:///1')
  t.equal(textOf(await speaker.tool('keeper')), '[2,1]')
  t.match(dataOf(await speaker.tool('get_notes')), { notes: [{ id: '1', content: 'a' }] })
  t.match(dataOf(await speaker.tool('increment_counter')), { value: 1 })
  t.match(dataOf(await speaker.tool('add_note', { content: 'b' })), { id: '2' })
  t.strictSame(speaker.notifications.filter(({ method }) => method === 'notifications/resources/updated'), [])
})
