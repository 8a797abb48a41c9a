import t from 'tap'
import { readDraft, formatDraft, newDraft, withText, withValue } from '../../../console/forms/draft.js'
import { parseJson } from '../../../console/forms/model/json-text.js'
import { numberFrom } from '../../../console/forms/model/number-text.js'
import { Typed, print } from '../../../console/forms/model/value.js'
import type { Json } from '../../../console/client/contract.js'

const sent = (text: string, schema?: Json) => JSON.stringify(readDraft(withText(newDraft(schema), text)).value)

t.test('what is typed as JSON is sent', async t => {
  for (const text of [
    '{}',
    '{"a":[1,-2.5,"x",null,true,{"b":[]}]}',
    '"\\u0041\\n\\"ü"',
    '[[[]]]',
    '0',
    '{"__proto__":1,"constructor":{"a":1}}'
  ]) {
    t.equal(sent(text), JSON.stringify(JSON.parse(text)), text)
  }
  t.equal(sent(' { "a" : 1.50e1 } '), '{"a":15}')
  t.equal(sent('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}')
})

t.test('broken JSON is named by line and column, and nothing is sent instead', async t => {
  const rows: Array<[string, number, number, RegExp]> = [
    ['{\n  "a": 1,\n}', 3, 1, /name in double quotes/],
    ['{"a": }', 1, 7, /value, found }/],
    ['{"a" 1}', 1, 6, /colon/],
    ['[1 2]', 1, 4, /comma or ]/],
    ['{"a": 1', 1, 1, /never closed/],
    ['["x', 1, 2, /never closed/],
    ['["x\n"]', 1, 4, /not closed in this line/],
    ['["\\x"]', 1, 3, /escape/],
    ["{'a': 1}", 1, 2, /name in double quotes/],
    ['yes', 1, 1, /Unknown word "yes"/],
    ['1 2', 1, 3, /follow/],
    ['{"a": 1, "a": 2}', 1, 10, /twice/],
    ['{"id": 12345678901234567890}', 1, 8, /more digits.*12345678901234567000/],
    ['[1e999]', 1, 2, /too large/],
    ['[01]', 1, 2, /Write a number/],
    ['['.repeat(600), 1, 502, /deeper than 500/],
    ['[\t"\u0001"]', 1, 4, /u0001/]
  ]
  for (const [text, line, column, words] of rows) {
    const before = withText(newDraft(true), '{"last":"valid"}')
    const draft = withText(before, text)
    t.match(draft.problem, { line, column, message: words }, JSON.stringify(text.slice(0, 30)))
    t.equal(draft.text, text, 'the text stays as it was typed')
    t.equal(formatDraft(draft).text, text, 'also when it should be formatted')
    const checked = readDraft(draft)
    t.equal(checked.value, undefined)
    t.match(checked.errors, [{ at: '', message: new RegExp(`^Line ${line}, column ${column}: `) }])
  }
})

t.test('a text is put in order only when asked', async t => {
  const draft = withText(newDraft(true), '{"b":1.0,   "a":[]}')
  t.equal(draft.text, '{"b":1.0,   "a":[]}')
  t.equal(formatDraft(draft).text, '{\n  "b": 1.0,\n  "a": []\n}')
})

t.test('numbers are kept as typed or refused, never changed', async t => {
  for (const text of ['0', '-1', '12', '0.1', '9007199254740991', '9007199254740992', '1e+21', '5e-324']) {
    t.equal(numberFrom(text), Number(text), text)
  }
  for (const text of ['1.0', '1.50', '1e3', '100000000000000000000000', '1E2', '-0', '0.10e1']) {
    t.match(numberFrom(text), { text, value: Number(text), problem: undefined }, text)
  }
  for (const text of [
    '9007199254740993',
    '12345678901234567890',
    '0.1234567890123456789',
    '1e400',
    '',
    'abc',
    '1,5',
    '.5',
    '+1',
    '0x10',
    '١'
  ]) {
    const typed = numberFrom(text)
    t.ok(typed instanceof Typed && typed.value === undefined && typed.problem !== undefined, text)
  }
})

t.test('what is no number yet stands in the JSON as typed, and is not sent', async t => {
  const draft = withValue(newDraft(true), new Map([['n', numberFrom('12345678901234567890')]]))
  t.equal(draft.text, '{\n  "n": 12345678901234567890\n}')
  t.match(readDraft(draft), { value: undefined, errors: [{ at: '/n', message: /exactly/ }] })
  t.equal(print(numberFrom('1, "admin": true')), '"1, \\"admin\\": true"')
})

t.test('a large text is read in one go', async t => {
  const text = JSON.stringify({ a: 'x\n'.repeat(1_000_000) })
  t.ok('value' in parseJson(text))
})

t.test('a schema that requires itself many times fills in a part of itself', async t => {
  const names = Array.from({ length: 10 }, (_, index) => `p${index}`)
  const draft = newDraft({
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map(name => [name, { $ref: '#' }]))
  })
  const objects = draft.text.split('{').length - 1
  t.ok(objects > 100 && objects <= 1_000, String(objects))
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`p${index}`, { default: index }]))
  t.match(JSON.parse(newDraft({ type: 'object', properties: many }).text), { p0: 0, p899: 899 })
})
