import t from 'tap'
import { folder } from '../support/process.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { dataOf, Speaker, textOf } from '../support/speaker.js'

const REFUSED: Array<[what: string, tool: string, args: Json, expected: RegExp]> = [
  ['no content', 'add_note', {}, /arguments of add_note: .*content/],
  ['empty content', 'add_note', { content: '' }, /content must NOT have fewer than 1 characters/],
  ['content that is no text', 'add_note', { content: 5 }, /content must be string/],
  [
    'content beyond the limit',
    'add_note',
    { content: 'x'.repeat(11) },
    /content must NOT have more than 10 characters/
  ],
  ['tags that are no list', 'add_note', { content: 'a', tags: 'x' }, /tags must be array/],
  ['an empty tag', 'add_note', { content: 'a', tags: [''] }, /tags\.0 must NOT have fewer than 1 characters/],
  [
    'a tag that is too long',
    'add_note',
    { content: 'a', tags: ['x'.repeat(65)] },
    /tags\.0 must NOT have more than 64 characters/
  ],
  ['a tag twice', 'add_note', { content: 'a', tags: ['x', 'x'] }, /tags must NOT have duplicate items/],
  [
    'too many tags',
    'add_note',
    { content: 'a', tags: Array.from({ length: 33 }, String) },
    /tags must NOT have more than 32 items/
  ],
  ['an unknown member', 'add_note', { content: 'a', color: 'red' }, /"color"/],
  ['a limit of none', 'get_notes', { limit: 0 }, /limit must be >= 1/],
  ['a limit beyond reason', 'get_notes', { limit: 1001 }, /limit must be <= 1000/],
  ['half a limit', 'get_notes', { limit: 1.5 }, /limit must be integer/],
  ['a limit in words', 'get_notes', { limit: '5' }, /limit must be integer/],
  ['an id that is a number', 'delete_note', { id: 1, confirm: true }, /id must be string/]
]

t.test('invalid arguments are refused with a reason, and nothing is stored', async t => {
  const app = await gateway(t, { limits: { maxNote: 10 }, http: false })
  const speaker = new Speaker(app)
  const early = new Speaker(app, { version: '2024-11-05' })
  for (const [what, name, args, expected] of REFUSED) {
    t.match(
      await speaker.tool(name, args),
      { result: { isError: true, content: [{ text: expected }] } },
      `${name}: ${what}`
    )
    t.match(
      await early.tool(name, args),
      { error: { code: -32602, message: expected } },
      `${name}: ${what}, in 2024-11-05`
    )
  }
  t.strictSame(dataOf(await speaker.tool('get_notes')), { notes: [], more: false })
})

t.test('an unknown or invalid id deletes no note', async t => {
  const speaker = new Speaker(await gateway(t, { http: false }))
  await speaker.tool('add_note', { content: 'the only one' })
  for (const id of [
    '',
    '0',
    '01',
    '-1',
    '1.0',
    '1e0',
    ' 1',
    '+1',
    '١',
    '9'.repeat(16),
    '9'.repeat(2_000),
    '__proto__',
    '../1',
    '1\0',
    '\ud800'
  ]) {
    t.match(
      await speaker.tool('delete_note', { id, confirm: true }),
      { result: { isError: true, content: [{ text: /^There is no note ".*; get_notes lists them$/ }] } },
      JSON.stringify(id).slice(0, 20)
    )
  }
  t.equal(dataOf<{ notes: unknown[] }>(await speaker.tool('get_notes')).notes.length, 1)
})

for (const where of ['in memory', 'on disk']) {
  t.test(`${where}: there are as many notes as there may be, and one more when one is deleted`, async t => {
    const app = await gateway(t, {
      limits: { maxNotes: 3 },
      http: false,
      ...(where === 'on disk' ? { data: await folder(t, {}) } : {})
    })
    const speaker = new Speaker(app)
    const added = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async content => await speaker.tool('add_note', { content }))
    )
    const refused = added.filter(({ result }) => result?.isError === true)
    t.equal(refused.length, 2)
    for (const answer of refused) t.match(textOf(answer), /3 notes/, 'it says how many of what there may be')
    t.match(
      textOf(await new Speaker(app, { version: '2024-11-05' }).tool('add_note', { content: 'f' })),
      /delete some first/
    )
    t.match(await speaker.tool('delete_note', { id: '1', confirm: true }), { result: { isError: false } })
    t.match(await speaker.tool('add_note', { content: 'g' }), { result: { isError: false } })
    t.match(dataOf(await speaker.tool('get_notes')), { notes: [{ content: 'g' }, { content: 'c' }, { content: 'b' }] })
    const ada = new Speaker(app, { principal: 'ada' })
    t.match(
      await ada.tool('add_note', { content: 'mine' }),
      { result: { isError: false } },
      "the limit is everybody's own"
    )
  })
}
