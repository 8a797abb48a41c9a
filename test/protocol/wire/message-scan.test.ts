import t from 'tap'
import { LIMITS } from '../../../protocol/wire/limits.js'
import { findExceededLimit, scanRequestId } from '../../../protocol/wire/message-scan.js'

const limits = { ...LIMITS, maxValues: 10, maxKeys: 5, maxDepth: 4 }
const why = (text: string): string | undefined =>
  findExceededLimit(Buffer.from(text), 0, Buffer.byteLength(text), limits)?.message
const id = (text: string): string | undefined => scanRequestId(Buffer.from(text), 0, Buffer.byteLength(text))
const long = 'x'.repeat(200)

/** How many values there are, as a program would count them that has them. */
const count = (value: unknown): number =>
  1 +
  (typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + count(inner), 0)
    : 0)

t.test('values are counted as they would be after parsing', async t => {
  const samples: unknown[] = [
    1,
    'a',
    [],
    {},
    [[]],
    [{}],
    [1, 2],
    [[], []],
    { a: 1 },
    { a: [], b: {} },
    [long, long],
    ['a"b', 'c\\', '\\"', '"'],
    { 'k,{[': ',[{:' },
    [`${long}"`, `${long}\\`, `${long}\\"x`],
    [null, true, 1.5e3]
  ]
  for (const sample of samples) {
    const bytes = Buffer.from(JSON.stringify(sample))
    const values = count(sample)
    t.equal(
      findExceededLimit(bytes, 0, bytes.length, { ...LIMITS, maxValues: values }),
      undefined,
      `${values} in ${bytes.toString().slice(0, 60)}`
    )
    t.match(
      findExceededLimit(bytes, 0, bytes.length, { ...LIMITS, maxValues: values - 1 })?.message ??
        (values === 1 ? 'at most 0 values' : ''),
      /at most \d+ values/
    )
  }
})

t.test('white space inside what is empty makes no value of it', async t => {
  const bytes = Buffer.from('[[ ], { }, [\n\t ]]')
  t.equal(findExceededLimit(bytes, 0, bytes.length, { ...LIMITS, maxValues: 4 }), undefined)
  t.match(findExceededLimit(bytes, 0, bytes.length, { ...LIMITS, maxValues: 2 })?.message, /at most 2 values/)
})

t.test('the first limit that is passed is named', async t => {
  t.match(why('[1,1,1,1,1,1,1,1,1,1]'), /at most 10 values/)
  t.match(why('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}'), /at most 5 members/)
  t.match(why('[[[[[]]]]]'), /deeper than 4 levels/)
  t.equal(why('[1,1,1,1,1,1,1,1,1]'), undefined)
})

t.test('bytes outside the given range are ignored', async t => {
  const bytes = Buffer.from(`[[[[[[${'{"a":"b"}'}]]]]]]`)
  t.equal(findExceededLimit(bytes, 6, bytes.length - 6, limits), undefined)
  t.equal(scanRequestId(Buffer.from('{"id":1,"method":"m"}{"id":2,"method":"m"}'), 21, 42), '2')
})

t.test('the id of a request is found wherever it stands', async t => {
  t.equal(id('{"jsonrpc":"2.0","id":7,"method":"m","params":{"id":8}}'), '7')
  t.equal(id('{"params":{"id":8,"method":"x"},"method":"m" , "id" : "a\\"b" }'), '"a\\"b"')
  t.equal(id(`{"params":["id","method",{"id":1}],"x":"${long}","method":"m","id":0}`), '0')
  t.equal(id('{"method":"m","id":-7}'), '-7')
})

t.test('no id is made up', async t => {
  for (const text of [
    '',
    '{',
    '{"id"',
    '{"id":',
    '{"id":7',
    '[{"id":7,"method":"m"}]',
    '"id"',
    '{"a":"id","b":"method"}',
    '{"id":7,"result":{"method":"m"}}',
    '{"method":"m"}',
    '{"method":"m","params":{"id":7}}'
  ]) {
    t.equal(id(text), undefined, text)
  }
})

t.test('whatever the bytes, the scan ends, and takes no longer than their number', async t => {
  for (const part of ['"', '\\', '\\"', '"\\', '{"', '["a",', '{"id":', ':', '{"method":"']) {
    const text = part.repeat(Math.ceil(300_000 / part.length))
    t.doesNotThrow(() => { why(text); id(text); id(`{"method":"m",${text}`) }, part)
  }
})
