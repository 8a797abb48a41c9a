import t from 'tap'
import { parseObject, readArguments } from '../../../cli/ask/read-arguments.js'
import { fieldsOf, typeInWords } from '../../../cli/ask/shape.js'

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'A text' },
    count: { type: 'integer', default: 3 },
    ratio: { type: 'number' },
    loud: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'integer' } },
    mode: { enum: ['fast', 'careful'] },
    level: { type: 'integer', enum: [1, 2] },
    color: { oneOf: [{ const: 'r', title: 'Red' }, { const: 'g', title: 'Green' }] },
    filter: { type: 'object' },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['string', 'number'] },
    one: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    place: { $ref: '#/$defs/place' },
    odd: { not: { type: 'string' } },
    maybe: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] }
  },
  required: ['text'],
  $defs: { place: { type: 'object', properties: {} }, self: { $ref: '#/$defs/self' } }
}
const fields = fieldsOf(schema)
const sources = { file: (path: string) => `<${path}>` }
const read = (...words: string[]) => readArguments(['text=x', ...words], {}, fields, sources)
const valueOf = (word: string): unknown => Object.entries(read(word)).find(([key]) => key !== 'text')?.[1]

t.test('a word becomes the value that the schema wants', async t => {
  for (const [word, value] of [
    ['count=5', 5], ['count=-5', -5], ['ratio=.5', 0.5], ['ratio=1e3', 1000], ['loud=true', true], ['loud=false', false],
    ['tags=a', ['a']], ['tags=["a","b"]', ['a', 'b']], ['tags=[a', ['[a']], ['sizes=3', [3]], ['mode=fast', 'fast'],
    ['level=2', 2], ['color=r', 'r'], ['color=Green', 'g'], ['filter={"a":1}', { a: 1 }], ['limit=null', null],
    ['limit=4', 4], ['either=4', 4], ['either=four', 'four'], ['one=a', 'a'], ['one=["a"]', ['a']], ['place={}', {}],
    ['odd=4', 4], ['odd=four', 'four'], ['odd="4"', '"4"'], ['odd={"a":[1]}', { a: [1] }], ['maybe=null', null],
    ['maybe=a', 'a'], ['odd:="4"', '4'], ['count:=7', 7]
  ] as Array<[string, unknown]>) t.strictSame(valueOf(word), value, word)
})

t.test('a text stays as it is, whatever it looks like', async t => {
  for (const text of ['', '5', 'true', '{"a":1}', 'a=b', 'a:=b', '--flag', ' é\n', '@']) {
    t.strictSame(readArguments([`text=${text}`], {}, fields, sources), { text }, text)
  }
})

t.test('a word that is repeated makes a list, and of what is no list a mistake', async t => {
  t.strictSame(read('tags=a', 'tags=b', 'sizes=1', 'sizes=2'), { text: 'x', tags: ['a', 'b'], sizes: [1, 2] })
  t.throws(() => read('count=1', 'count=2'), { message: 'argument count is given 2 times, and is no list' })
})

t.test('a value may be the text of a file', async t => {
  t.strictSame(readArguments(['text=@notes.txt'], {}, fields, sources), { text: '<notes.txt>' })
})

t.test('a text that begins with @ is written with two', async t => {
  t.strictSame(readArguments(['text=@@ada'], {}, fields, sources), { text: '@ada' })
  t.strictSame(readArguments(['text=@@'], {}, fields, sources), { text: '@' })
})

t.test('a number arrives as it was written, or not at all', async t => {
  for (const number of ['12345678901234567890', '-9007199254740993', '1e400', '-1e400', '1e-400', '9007199254740993.5']) {
    t.strictSame(valueOf(`odd=${number}`), number, 'text, where nothing is known')
    t.strictSame(valueOf(`either=${number}`), number, 'text, where that may be')
    const sentence = `the number ${number} cannot be sent without a change; send it as text, if the tool takes that`
    for (const word of [`ratio=${number}`, `count=${number}`, `sizes=${number}`, `count:=${number}`, `tags=[${number}]`]) {
      t.throws(() => read(word), { message: `argument ${word.replace(/:?=.*/, '')}: ${sentence}` }, word)
    }
    for (const word of [`filter={"id":${number}}`, `odd=[1,${number}]`]) {
      t.throws(() => read(word), { message: `JSON: ${sentence}` }, word)
    }
    t.throws(() => parseObject(`{"a":"\\"","b":[${number}]}`, '--json'), { message: `--json: ${sentence}` })
  }
  for (const [word, value] of [
    ['odd=9007199254740991', 9007199254740991], ['ratio=6.022e23', 6.022e23], ['odd=0', 0], ['ratio=0.0e5', 0],
    ['filter={"id":"12345678901234567890"}', { id: '12345678901234567890' }], ['ratio=5e-324', 5e-324]
  ] as const) t.strictSame(valueOf(word), value, word)
})

t.test('words override what was given as JSON', async t => {
  t.strictSame(readArguments(['count=2'], { text: 'y', count: 1 }, fields, sources), { text: 'y', count: 2 })
})

t.test('each mistake is said, one a line, before anything is sent', async t => {
  t.throws(() => read('loud'), { message: '"loud" has no value: write loud=true' })
  t.throws(() => read('count'), { message: '"count" has no value: write count=VALUE' })
  t.throws(() => read('odd:=x'), { message: /^argument odd is not JSON: / })
  const message = ((): string => {
    try {
      read('count=many', 'mode=fats', 'lod=true', 'level=3', 'filter=x', 'sizes=a')
      return ''
    } catch (error) {
      return (error as Error).message
    }
  })()
  t.strictSame(message.split('\n'), [
    'argument count must be a whole number, not "many"',
    'argument mode must be one of fast, careful, not "fats"; did you mean "fast"?',
    'there is no argument "lod"; did you mean "loud"?',
    'argument level must be one of 1, 2, not "3"',
    'argument filter must be an object as JSON, not "x"',
    'argument sizes must be a whole number, not "a"'
  ])
  t.throws(() => readArguments([], {}, fields, sources), { message: 'text (string) is missing' })
})

t.test('a name that the schema does not have is sent where that is allowed, and nothing like it is there', async t => {
  t.strictSame(read('zebra=4'), { text: 'x', zebra: 4 })
  const strict = fieldsOf({ type: 'object', properties: { a: {} }, additionalProperties: false })
  t.throws(() => readArguments(['zebra=4'], {}, strict, sources), { message: 'there is no argument "zebra"; there is a' })
  t.strictSame(readArguments(['a=1', 'b=x'], {}, fieldsOf(undefined), sources), { a: 1, b: 'x' }, 'no schema at all')
})

t.test('names that reach prototypes are names', async t => {
  const args = readArguments(['__proto__=1', 'constructor=2'], {}, fieldsOf({}), sources)
  t.strictSame(Object.keys(args), ['__proto__', 'constructor'])
  t.equal(Object.getPrototypeOf(args), Object.prototype)
})

t.test('schemas that go in circles, or are none, are read as far as they can be', async t => {
  const circle = fieldsOf({ properties: { a: { $ref: '#/properties/a' }, b: { $ref: 'https://example.com/' }, c: true } })
  t.strictSame([...circle.fields.keys()], ['a', 'b', 'c'])
  t.strictSame(readArguments(['a=1', 'b=x', 'c=[1]'], {}, circle, sources), { a: 1, b: 'x', c: [1] })
  for (const none of [undefined, null, 3, 'x', [], { properties: 3 }]) t.equal(fieldsOf(none).fields.size, 0)
})

t.test('a schema that refers to itself in many places is read once', async t => {
  // Six ways at each of twelve levels were two thousand million.
  const self = () => ({ $ref: '#/$defs/node' })
  const node = { type: 'object', anyOf: Array.from({ length: 6 }, self), items: self(), properties: { name: self() } }
  const { fields } = fieldsOf({ properties: { tree: self() }, anyOf: [self(), self()], $defs: { node } })
  t.same([...fields.keys()], ['tree', 'name'])
  t.same([...fields.get('tree')?.types ?? []], ['object'])
  const doubled = {
    c0: { const: 1 },
    ...Object.fromEntries(Array.from({ length: 12 }, (_, level) =>
      [`c${level + 1}`, { anyOf: Array.from({ length: 8 }, () => ({ $ref: `#/$defs/c${level}` })) }]))
  }
  t.equal(fieldsOf({ properties: { a: { $ref: '#/$defs/c11' } }, $defs: doubled }).fields.size, 1)
})

t.test('arguments of several alternatives are all known, and none of them is required', async t => {
  const { fields, required } = fieldsOf({
    allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }],
    oneOf: [{ properties: { b: { type: 'integer' } }, required: ['b'] }, { properties: { c: {} } }]
  })
  t.strictSame([...fields.keys()], ['a', 'b', 'c'])
  t.strictSame([...required], ['a'])
})

t.test('types are put into words', async t => {
  const words = Object.fromEntries([...fields.fields].map(([name, shape]) => [name, typeInWords(shape)]))
  t.match(words, { text: 'string', tags: 'list of string', limit: 'integer or null', odd: 'any', mode: '', one: 'string or list of string' })
})

t.test('arguments as JSON have to be an object', async t => {
  t.strictSame(parseObject('{"a":1}', '--json'), { a: 1 })
  t.throws(() => parseObject('[1]', '--json'), { message: /^--json must be a JSON object/ })
  t.throws(() => parseObject('{', '--json'), { message: /^--json is not JSON: / })
})
