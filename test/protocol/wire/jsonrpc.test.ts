import t from 'tap'
import {
  decode,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  type Incoming
} from '../../../protocol/wire/jsonrpc.js'
import { errors, McpError } from '../../../protocol/wire/errors.js'
import { LIMITS } from '../../../protocol/wire/limits.js'

const read = (value: unknown): Incoming => decode(JSON.stringify(value))
const request = (rest: object): Incoming => read({ jsonrpc: '2.0', id: 1, method: 'm', ...rest })

t.test('a request keeps its id with its own type', async t => {
  for (const id of [1, '1', 0, '', -7, Number.MAX_SAFE_INTEGER, 'ключ', '\u0000']) {
    t.match(request({ id, params: { a: 1 } }), { kind: 'request', id, method: 'm', params: { a: 1 } })
    t.equal((request({ id }) as { id: unknown }).id, id)
  }
})

t.test('params that are left out are empty', async t => {
  t.strictSame((request({}) as { params: unknown }).params, {})
})

t.test('a message without an id is a notification', async t => {
  t.match(read({ jsonrpc: '2.0', method: 'm' }), { kind: 'notification', method: 'm', params: {}, size: Number })
})

t.test('bytes and text are read alike', async t => {
  const text = '{"jsonrpc":"2.0","id":"é😀","method":"m","params":{"t":"\\ud83d\\ude00"}}'
  t.match(decode(Buffer.from(text)), { ...decode(text), size: Number })
  t.match(decode(Buffer.from(text)), { id: 'é😀', params: { t: '😀' } })
})

t.test('a byte order mark before a message is left out, and only there', async t => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"m"}'
  t.match(decode(`\ufeff${text}`), { kind: 'request', id: 1 })
  t.match(decode(Buffer.from(`\ufeff${text}`)), { kind: 'request', id: 1 })
  t.match(decode(Buffer.from(`x\ufeff${text}`).subarray(1)), { kind: 'request', id: 1 })
  t.match(decode(Buffer.from(`\ufeff\ufeff${text}`)), { kind: 'invalid', error: { code: -32700 } })
  t.match(decode(Buffer.from(`${text}\ufeff`)), { kind: 'invalid', error: { code: -32700 } })
})

t.test('a request knows about how much its params hold: its bytes, and something for each value', async t => {
  const size = (params: string): number =>
    (decode(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`) as { size: number }).size
  const nothing = size('{}')
  t.equal(size(`{"a":"${'x'.repeat(1_000)}"}`) - size('{"a":""}'), 1_000)
  t.ok(size(`{"a":[${'{},'.repeat(1_000)}1]}`) - nothing > 60_000)
  const [one, two] = (
    decode(
      `[${new Array(2).fill(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"${'x'.repeat(1_000)}"}}`).join(',')}]`
    ) as { messages: Array<{ size: number }> }
  ).messages
  t.ok(
    one !== undefined && two !== undefined && one.size > 1_000 && one.size === two.size && one.size < 2_000,
    'each of a batch holds its share'
  )
})

t.test('a slice of a larger buffer is read as that slice', async t => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"m"}'
  t.match(decode(Buffer.from(`xx${text}xx`).subarray(2, 2 + text.length)), { kind: 'request', id: 1 })
})

const REFUSED: Array<[why: string, message: unknown, code: number, id: string | number | undefined]> = [
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'm' }, -32600, undefined],
  ['an id with a fraction', { jsonrpc: '2.0', id: 1.5, method: 'm' }, -32600, undefined],
  ['an id too large to be exact', { jsonrpc: '2.0', id: 2 ** 53, method: 'm' }, -32600, undefined],
  ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'm' }, -32600, undefined],
  ['no version', { id: 1, method: 'm' }, -32600, 1],
  ['another version', { jsonrpc: '1.0', id: 1, method: 'm' }, -32600, 1],
  ['a version that is a number', { jsonrpc: 2.0, id: 1, method: 'm' }, -32600, 1],
  ['no method', { jsonrpc: '2.0', id: 1 }, -32600, 1],
  ['a method that is not text', { jsonrpc: '2.0', id: 1, method: 7 }, -32600, 1],
  ['params as a list', { jsonrpc: '2.0', id: 'a', method: 'm', params: [1] }, -32602, 'a'],
  ['params as text', { jsonrpc: '2.0', id: 1, method: 'm', params: 'x' }, -32600, 1],
  ['params that are null', { jsonrpc: '2.0', id: 1, method: 'm', params: null }, -32600, 1],
  ['a number', 7, -32600, undefined],
  ['text', 'hello', -32600, undefined],
  ['null', null, -32600, undefined],
  ['an empty batch', [], -32600, undefined],
  ['a batch of 101', Array(101).fill({ jsonrpc: '2.0', method: 'm' }), -32600, undefined],
  [
    'an answer with a result and an error',
    { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'x' } },
    -32600,
    undefined
  ],
  ['an answer without an id', { jsonrpc: '2.0', result: {} }, -32600, undefined],
  ['an answer whose error has no code', { jsonrpc: '2.0', id: 1, error: { message: 'x' } }, -32600, undefined],
  ['an answer whose error is text', { jsonrpc: '2.0', id: 1, error: 'x' }, -32600, undefined]
]

for (const [why, message, code, id] of REFUSED) {
  t.test(`${why} is refused with ${code}`, async t => t.match(read(message), { kind: 'invalid', id, error: { code } }))
}

const UNREADABLE: Array<[why: string, input: string | Buffer]> = [
  ['nothing', ''],
  ['blanks', ' \n'],
  ['half a message', '{"jsonrpc":"2.0","id":1'],
  ['two messages', '{"jsonrpc":"2.0","id":1,"method":"m"}{}'],
  ['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"m",}'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m"}', 'utf16le')],
  ['half a character', Buffer.concat([Buffer.from('{"a":"'), Buffer.from('é').subarray(0, 1), Buffer.from('"}')])],
  ['100,000 open brackets', '['.repeat(100_000)]
]

for (const [why, input] of UNREADABLE) {
  t.test(`${why}: a parse error`, async t =>
    t.match(decode(input), { kind: 'invalid', id: undefined, error: { code: -32700 } })
  )
}

t.test('keys that reach prototypes are refused wherever they are, and change nothing', async t => {
  for (const params of [
    '{"__proto__":{"polluted":1}}',
    '{"a":[{"__proto__":{"polluted":1}}]}',
    '{"constructor":{"prototype":{"polluted":1}}}'
  ]) {
    t.match(decode(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`), {
      kind: 'invalid',
      id: 1,
      error: { code: -32600 }
    })
  }
  t.match(decode('{"jsonrpc":"2.0","id":1,"method":"m","__proto__":{"polluted":1}}'), { kind: 'invalid', id: 1 })
  t.match(decode('{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"polluted":1}}}'), { kind: 'invalid', id: undefined })
  t.notOk('polluted' in {})
})

t.test('64 levels are taken, 65 are not', async t => {
  const nested = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels)}`
  t.match(decode(nested(64)), { kind: 'request' })
  t.match(decode(nested(65)), { kind: 'invalid', id: 1, error: { code: -32600, message: /64 levels/ } })
  t.match(decode(nested(20_000)), { kind: 'invalid', error: { code: -32600 } })
})

t.test('a number that JSON can say and a program cannot is refused', async t => {
  t.match(decode('{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":1e999}}'), {
    kind: 'invalid',
    id: 1,
    error: { code: -32602 }
  })
})

t.test('responses are distinguished from requests', async t => {
  t.strictSame(read({ jsonrpc: '2.0', id: 3, result: { a: 1 } }), { kind: 'response', id: 3, result: { a: 1 } })
  t.match(read({ jsonrpc: '2.0', id: 'x', error: { code: -1, message: 'no', data: 7 } }), {
    kind: 'response',
    id: 'x',
    error: { code: -1, message: 'no', data: 7 }
  })
  t.match(read({ jsonrpc: '2.0', id: null, error: { code: -1, message: 'no' } }), { kind: 'response', id: undefined })
  t.match(
    read({ jsonrpc: '2.0', id: 3, result: {}, method: 'm' }),
    { kind: 'request', id: 3 },
    'what has a method asks'
  )
})

t.test('each message of a batch stands for itself', async t => {
  t.match(read([{ jsonrpc: '2.0', id: 1, method: 'm' }, 7, 'x', { jsonrpc: '2.0', method: 'n' }]), {
    kind: 'batch',
    messages: [
      { kind: 'request', id: 1 },
      { kind: 'invalid', error: { code: -32600 } },
      { kind: 'invalid' },
      { kind: 'notification' }
    ]
  })
})

t.test('encoded messages are valid JSON with the given members', async t => {
  t.strictSame(JSON.parse(encodeResult('a"b', '{"x":1}')), { jsonrpc: '2.0', id: 'a"b', result: { x: 1 } })
  t.strictSame(JSON.parse(encodeError(null, errors.methodNotFound('x'))), {
    jsonrpc: '2.0',
    id: null,
    error: { code: -32601, message: 'Method not found: x', data: { code: 'PATCHBAY_METHOD_NOT_FOUND' } }
  })
  t.strictSame(JSON.parse(encodeError(undefined, new McpError(-32050, 'x'))), {
    jsonrpc: '2.0',
    error: { code: -32050, message: 'x' }
  })
  t.strictSame(JSON.parse(encodeError(0, errors.invalidParams('x'))).id, 0)
  t.strictSame(JSON.parse(encodeNotification('n')), { jsonrpc: '2.0', method: 'n' })
  t.strictSame(JSON.parse(encodeRequest(1, 'm', { a: 1 })), { jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } })
})

t.test('written text is one line, whatever is in it', async t => {
  t.notMatch(encodeNotification('n', { text: 'a\nb\r\u2028' }), /[\n\r]/)
})

t.test('a message that is nested deeper than the stack is refused, and nothing is thrown', async t => {
  const deep = `{"jsonrpc":"2.0","id":7,"method":"m","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`
  const limits = { ...LIMITS, maxDepth: 1_000_000, maxKeys: 1_000_000, maxValues: 1_000_000 }
  for (const input of [deep, Buffer.from(deep)]) {
    t.match(decode(input, limits), {
      kind: 'invalid',
      id: 7,
      error: { code: -32700, message: /nested too deeply/, cause: RangeError }
    })
  }
  t.match(decode(`[${deep}]`, limits), { kind: 'batch', messages: [{ kind: 'invalid', id: 7 }] })
})
