import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { folder } from '../support/process.js'
import { gateway } from '../support/gateway.js'
import { dataOf, ERAS, Speaker, textOf } from '../support/speaker.js'

const UPDATED = 'notifications/resources/updated'
const TEMPLATE = { type: 'ref/resource', uri: 'note:///{id}' }

async function ids (speaker: Speaker): Promise<unknown> {
  const { result } = await speaker.request('completion/complete', {
    ref: TEMPLATE,
    argument: { name: 'id', value: '' }
  })
  return result.completion
}

async function listed (speaker: Speaker): Promise<string[]> {
  const { result } = await speaker.request('resources/list')
  return (result.resources as Array<{ uri: string }>).map(({ uri }) => uri).filter(uri => uri.startsWith('note:'))
}

/** Ada has notes 1 to 3, Bob has note 1, the anonymous caller has none. */
async function owned (app: FastifyInstance, version = '2025-11-25') {
  const [ada, bob, anonymous] = ['ada', 'bob', undefined].map(
    principal => new Speaker(app, { version, ...(principal === undefined ? {} : { principal }) })
  ) as [Speaker, Speaker, Speaker]
  for (const content of ['secret of Ada', 'another', 'third']) await ada.tool('add_note', { content, tags: ['t'] })
  await bob.tool('add_note', { content: 'of Bob', tags: ['t'] })
  return { ada, bob, anonymous }
}

for (const where of ['in memory', 'on disk']) {
  for (const version of where === 'in memory' ? ERAS : ['2026-07-28']) {
    t.test(`${where}, ${version}: a caller does not see the notes of another`, async t => {
      const app = await gateway(t, { http: false, ...(where === 'on disk' ? { data: await folder(t, {}) } : {}) })
      const { ada, bob, anonymous } = await owned(app, version)
      t.match(textOf(await ada.tool('get_notes')), /third[^]*another[^]*secret of Ada/)
      t.match(textOf(await bob.tool('get_notes', { tags: ['t'] })), /^1\. of Bob/)
      for (const speaker of [bob, anonymous]) {
        t.notMatch(JSON.stringify(await speaker.tool('get_notes')), /secret|another|third/)
      }
      t.equal(textOf(await anonymous.tool('get_notes')), 'There are no such notes')

      t.strictSame(await listed(ada), ['note:///1', 'note:///2', 'note:///3'])
      t.strictSame(await listed(bob), ['note:///1'])
      t.strictSame(await listed(anonymous), [])
      t.match(await ids(ada), { values: ['3', '2', '1'], total: 3 })
      t.match(await ids(bob), { values: ['1'], total: 1 })
      t.match(await ids(anonymous), { values: [], total: 0 })

      const read = async (speaker: Speaker, id: string) =>
        await speaker.request('resources/read', { uri: `note:///${id}` })
      t.match(await read(ada, '1'), { result: { contents: [{ text: 'secret of Ada' }] } })
      t.match(await read(bob, '1'), { result: { contents: [{ text: 'of Bob' }] } })
      const absent = { error: { message: 'Resource not found: note:///3', data: { uri: 'note:///3' } } }
      for (const speaker of [bob, anonymous]) t.match(await read(speaker, '3'), absent)

      t.match(textOf(await bob.tool('delete_note', { id: '3', confirm: true })), 'There is no note "3"')
      t.match(textOf(await bob.tool('delete_note', { id: '1', confirm: true })), 'Note 1 deleted')
      t.match(await read(ada, '1'), { result: { contents: [{ text: 'secret of Ada' }] } }, 'each has a note 1')
    })
  }
}

for (const version of ['2024-11-05', '2025-11-25', '2026-07-28']) {
  t.test(`${version}: a caller is not notified of the notes of another`, async t => {
    const app = await gateway(t, { http: false })
    const { ada, bob, anonymous } = await owned(app, version)
    for (const speaker of [ada, bob, anonymous]) await speaker.subscribe('note:///3')
    await ada.tool('delete_note', { id: '3', confirm: true })
    t.match(await ada.next(UPDATED), { uri: 'note:///3' })
    for (const content of ['second', 'third of Bob']) await bob.tool('add_note', { content })
    t.match(await bob.next(UPDATED), { uri: 'note:///3' })
    for (const speaker of [ada, bob, anonymous]) {
      t.strictSame(
        speaker.notifications.filter(({ method }) => method === UPDATED),
        []
      )
    }
  })
}

t.test('a cursor of one caller is refused to another', async t => {
  const app = await gateway(t, { http: false, pageSize: 1 })
  const { ada, bob } = await owned(app)
  let cursor: unknown
  let refused = 0
  do {
    const { result } = await ada.request('resources/list', cursor === undefined ? {} : { cursor })
    cursor = result.nextCursor
    if (cursor === undefined) break
    t.match(await bob.request('resources/list', { cursor }), { error: { code: -32602, message: /cursor/ } })
    refused++
  } while (cursor !== undefined)
  t.ok(refused > 2)
})

t.test('a principal that looks like a part of a key is not another one', async t => {
  for (const data of [undefined, await folder(t, {})]) {
    const app = await gateway(t, { http: false, ...(data === undefined ? {} : { data }) })
    const NAMES = [
      '',
      '/',
      'ada',
      'ada/',
      'ada/1',
      'notes',
      'notes/ada',
      '__proto__',
      'constructor',
      'undefined',
      'null',
      'Ada',
      ' ada',
      'ädä',
      'a\u0308da\u0308',
      '🦊',
      'x'.repeat(1000)
    ]
    const speakers = NAMES.map(principal => new Speaker(app, { principal }))
    for (const [index, speaker] of speakers.entries()) {
      t.match(
        dataOf(await speaker.tool('add_note', { content: `of ${index}` })),
        { id: '1' },
        String(NAMES[index]).slice(0, 20)
      )
    }
    for (const [index, speaker] of speakers.entries()) {
      t.match(
        dataOf(await speaker.tool('get_notes')),
        { notes: [{ content: `of ${index}` }], more: false },
        String(NAMES[index]).slice(0, 20)
      )
    }
    t.match(dataOf(await new Speaker(app).tool('get_notes')), { notes: [] })
  }
})

t.test('a subscriber is notified of a note under its own name only', async t => {
  const app = await gateway(t, { http: false })
  for (const principal of ['', '/', 'ada/', 'undefined', '__proto__', '🦊']) {
    const speaker = new Speaker(app, { principal })
    await speaker.subscribe('note:///1')
    await speaker.tool('add_note', { content: 'a' })
    t.match(await speaker.next(UPDATED), { uri: 'note:///1' }, JSON.stringify(principal))
    speaker.close()
  }
})

t.test('the counter is shared by all callers', async t => {
  const app = await gateway(t, { http: false })
  const [ada, bob] = ['ada', 'bob'].map(principal => new Speaker(app, { principal })) as [Speaker, Speaker]
  await bob.subscribe('server://counter')
  t.match(dataOf(await ada.tool('increment_counter')), { value: 1 })
  t.match(await bob.next(UPDATED), { uri: 'server://counter' })
  t.match(dataOf(await bob.tool('increment_counter')), { value: 2 })
})

t.test('a note that another gateway adds is notified to its owner alone', async t => {
  const data = await folder(t, {})
  const [here, there] = [await gateway(t, { data, http: false }), await gateway(t, { data, http: false })]
  const [ada, bob] = ['ada', 'bob'].map(principal => new Speaker(here, { principal })) as [Speaker, Speaker]
  for (const speaker of [ada, bob]) await speaker.subscribe('note:///1')
  await new Speaker(there, { principal: 'ada' }).tool('add_note', { content: 'from elsewhere' })
  t.match(await ada.next(UPDATED, 2_000), { uri: 'note:///1' })
  await ada.next('notifications/resources/list_changed')
  t.strictSame(bob.notifications, [], 'neither that it changed nor that there is one more')
  t.match(await ada.request('resources/read', { uri: 'note:///1' }), {
    result: { contents: [{ text: 'from elsewhere' }] }
  })
  t.match(await bob.request('resources/read', { uri: 'note:///1' }), { error: { code: -32002 } })
})
