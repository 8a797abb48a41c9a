import t from 'tap'
import type { Json, JsonObject } from '../../../console/client/contract.js'
import { checkInTime } from '../../../console/forms/check-in-time.js'
import { beginning, blocksOf, byteLength, SHOWN_BYTES, sizeWords } from '../../../console/results/excerpt.js'
import { fitOf } from '../../../console/results/fit.js'
import { jsonContent, jsonText, repeatedTexts } from '../../../console/results/json-content.js'
import { decode, decodedSize, mediaOf } from '../../../console/results/media.js'
import { openThread } from '../support/check-thread.js'

t.test('100 KiB of a text are shown, cut between characters', async t => {
  for (const text of [
    'a'.repeat(300_000),
    'ä'.repeat(300_000),
    '🎉'.repeat(100_000),
    `x${'🎉'.repeat(100_000)}`,
    `${'a'.repeat(SHOWN_BYTES - 1)}🎉`,
    'short',
    ''
  ]) {
    const shown = beginning(text, 1)
    t.ok(text.startsWith(shown))
    t.ok(byteLength(shown) <= SHOWN_BYTES && (shown === text || byteLength(shown) > SHOWN_BYTES - 4))
    t.doesNotThrow(() => encodeURIComponent(shown))
    let times = 1
    while (beginning(text, times).length < text.length) times++
    t.equal(beginning(text, times), text, 'more shows the rest')
  }
})

t.test('a text is laid out in blocks that end with lines, and lose nothing', async t => {
  for (const text of ['a\n'.repeat(10_000), 'x'.repeat(50_000), `${'y'.repeat(5_000)}\n\n\nend`, '']) {
    const blocks = blocksOf(text)
    t.equal(blocks.join(''), text)
    t.ok(blocks.slice(0, -1).every(block => block.endsWith('\n')))
  }
  t.equal(blocksOf('a\n'.repeat(10_000)).length, 5)
})

t.test('sizes are told in words', async t => {
  t.same([0, 1, 1_023, 1_024, 4_194_304].map(sizeWords), ['0 bytes', '1 byte', '1023 bytes', '1.0 KiB', '4.0 MiB'])
})

t.test('only known types of a bearable size are shown', async t => {
  t.same(
    ['image/png', 'IMAGE/PNG; a=b', 'image/svg+xml', 'audio/wav', 'text/html', 'image/x-unknown', '', 'video/mp4'].map(
      type => mediaOf(type, 10)
    ),
    ['image', 'image', 'image', 'audio', 'file', 'file', 'file', 'file']
  )
  t.equal(mediaOf('image/png', 20_000_000), 'file')
  for (const text of ['', 'a', 'ab', 'abc', 'abcd']) {
    const base64 = Buffer.from(text).toString('base64')
    t.equal(decodedSize(base64), text.length)
    t.equal(Buffer.from(decode(base64) ?? []).toString(), text)
  }
  t.equal(decode('!!!'), undefined)
})

const fit = async (result: JsonObject, schema: Json, asked = false) =>
  await fitOf(
    result,
    schema,
    asked,
    async (value, schema, options) => await checkInTime(value, schema, { ...options, open: openThread })
  )

t.test('a result fits its outputSchema, or it is said where not', async t => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' }, s: { pattern: '^a+$' } } }
  t.same(await fit({ structuredContent: { a: 1 } }, schema), { type: 'fits' })
  t.same(await fit({ structuredContent: { a: 'x' } }, schema), {
    type: 'wrong',
    errors: [{ at: '/a', message: 'This must be: whole number.' }]
  })
  t.same(await fit({ structuredContent: { a: 1, s: 'b' } }, schema), {
    type: 'wrong',
    errors: [{ at: '/s', message: 'This must match the pattern ^a+$.' }]
  })
  t.same(await fit({ content: [] }, schema), { type: 'missing' })
  t.same(await fit({ structuredContent: { a: 1 } }, { $ref: 'https://example.com/x' }), { type: 'unknown' })
  const large = { structuredContent: { a: 1, all: Array.from({ length: 10_000 }, () => 0) } }
  t.same(await fit(large, schema), { type: 'large' })
  t.same(await fit(large, schema, true), { type: 'fits' })
  const levels = Array.from({ length: 40 }, (_, level) => [
    `a${level}`,
    { allOf: [{ $ref: `#/$defs/a${level + 1}` }, { $ref: `#/$defs/a${level + 1}` }] }
  ])
  const endless = { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(levels), a40: true } }
  t.same(await fit({ structuredContent: { a: 1 } }, endless), { type: 'late' }, 'it would take years')
})

t.test('a result of any depth is held against its outputSchema, or is not', async t => {
  let deep: Json = []
  for (let level = 0; level < 100_000; level++) deep = [deep]
  t.same(await fit({ structuredContent: deep }, { type: 'array' }), { type: 'large' })
  t.same(await fit({ structuredContent: deep }, { type: 'array' }, true), { type: 'unknown' })
})

t.test('a check takes a second at most, and ten if a person asks, who gets the first error alone', async t => {
  const given: unknown[] = []
  const check: typeof checkInTime = async (_value, _schema, options) => { given.push(options); return 'late' }
  t.same(
    [
      await fitOf({ structuredContent: 1 }, true, false, check),
      await fitOf({ structuredContent: 1 }, true, true, check)
    ],
    [{ type: 'late' }, { type: 'late' }]
  )
  t.same(given, [{}, { first: true, ms: 10_000 }])
})

t.test('a resource that is JSON is a tree, unless a tree would not show what it says', async t => {
  t.same(jsonContent('{"a":[1,"x",null]}', 'application/json; charset=utf-8'), { a: [1, 'x', null] })
  t.same(jsonContent('[]', 'application/vnd.api+json'), [])
  for (const text of ['{"a":', '', '{"id":12345678901234567890}', '{"a":1,"a":2}', '['.repeat(600)]) {
    t.equal(jsonContent(text, 'application/json'), undefined, text.slice(0, 30))
  }
  for (const type of ['text/plain', 'application/jsonl', '']) t.equal(jsonContent('{}', type), undefined, type)
})

t.test('a text that says the same as the structured content is found', async t => {
  const structuredContent = { a: 1, b: ['x', { c: null }] }
  const texts = [
    '{"b": ["x", {"c": null}], "a": 1.0}',
    '{"a":1}',
    '{"a":1,"b":["x",{"c":null},2]}',
    '{"a":1,"b":{"0":"x","1":{"c":null}}}',
    'plain',
    ''
  ]
  t.same(
    [
      ...repeatedTexts({
        structuredContent,
        content: [...texts.map(text => ({ type: 'text', text })), { type: 'image', text: texts[0] as string }, 'x']
      })
    ],
    [0]
  )
  t.same([...repeatedTexts({ content: [{ type: 'text', text: '{}' }] })], [])
  t.same([...repeatedTexts({ structuredContent })], [])
})

t.test('a text that is an object or a list as JSON is read, others are not', async t => {
  t.same(jsonText(' {"a":[1]}'), { a: [1] })
  t.strictSame(jsonText('[]'), [])
  for (const text of ['12', '"a"', 'null', '{a}', '[1] and more', '[1e400]', '']) {
    t.equal(jsonText(text), undefined, text)
  }
  t.equal(jsonText(`["${'x'.repeat(600_000)}"]`), undefined, 'too long to be tried')
})
