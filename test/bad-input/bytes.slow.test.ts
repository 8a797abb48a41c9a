import t from 'tap'
import { call, callTool, nested } from '../support/messages.js'
import { answered, except, tryRows, unreadable, type Row } from '../support/rows.js'
import { startServer } from '../support/server.js'

const notJson = unreadable(-32700)
const notUtf8 = { ...notJson, websocket: 'close 1007', 'websocket 2026': 'close 1007' }
const blank = { ...notJson, stdio: 'silence', 'stdio 2026': 'silence' }
const forbidden = unreadable(-32600, '7')
const nothing = unreadable(-32600)

const good = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
const inString = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":7,"method":"'), Buffer.from(bytes), Buffer.from('"}')])
const withMember = (member: string) => `{"jsonrpc":"2.0","id":7,"method":"ping",${member}}`
const withArgument = (json: string) => (era: Parameters<ReturnType<typeof call>>[0]) =>
  callTool('echo', { text: 'PLACE' })(era).replace('"PLACE"', json)

/** The same message with its id at the end. */
const lastId = (text: string) => text.replace('"id":7,', '').replace(/\}$/, ',"id":7}')

const rows: Row[] = [
  { row: 'A1', title: 'a message cut short', input: good.slice(0, -1), expect: notJson },
  { row: 'A2', title: 'nothing at all', input: '', expect: blank },
  { row: 'A3', title: 'only blanks', input: '  \t ', expect: blank },
  { row: 'A3', title: 'only line ends', input: '\r\n\r\n', expect: blank },
  { row: 'A5', title: 'a trailing comma', input: withMember('"params":{},'), expect: notJson },
  { row: 'A6', title: 'a comment', input: `${good}/* ping */`, expect: notJson },
  { row: 'A7', title: 'single quotes', input: good.replaceAll('"', "'"), expect: notJson },
  { row: 'A8', title: 'NaN', input: withMember('"params":{"x":NaN}'), expect: notJson },
  { row: 'A8', title: 'Infinity', input: withMember('"params":{"x":Infinity}'), expect: notJson },
  { row: 'A9', title: 'a key without quotes', input: good.replace('"id"', 'id'), expect: notJson },
  {
    row: 'A10',
    title: 'a byte order mark before the message is left out',
    input: Buffer.from(`\ufeff${good}`),
    expect: except(answered('ok id 7'), 'stateless', 'websocket 2026', 'stdio 2026')
  },
  { row: 'A10', title: 'a byte order mark and nothing else', input: '\ufeff', expect: notJson },
  { row: 'A11', title: 'UTF-16', input: Buffer.from(good, 'utf16le'), expect: notJson },
  {
    row: 'A11',
    title: 'UTF-16 with a byte order mark',
    input: Buffer.from(`\ufeff${good}`, 'utf16le'),
    expect: notUtf8
  },
  { row: 'A12', title: 'the bytes FF FE inside a string', input: inString(0xff, 0xfe), expect: notUtf8 },
  { row: 'A13', title: 'an overlong character', input: inString(0xc0, 0xaf), expect: notUtf8 },
  { row: 'A14', title: 'an encoded surrogate', input: inString(0xed, 0xa0, 0x80), expect: notUtf8 },
  { row: 'A16', title: 'a raw NUL inside a string', input: inString(0x61, 0, 0x61), expect: notJson },
  { row: 'A16', title: 'a raw control byte inside a string', input: inString(0x1b), expect: notJson },
  {
    row: 'A17',
    title: 'an escaped NUL is only text',
    input: callTool('echo', { text: 'a\0b' }),
    expect: answered('ok id 7')
  },
  {
    row: 'A18',
    title: '__proto__ as a member of the message',
    input: withMember('"__proto__":{"x":1}'),
    expect: forbidden
  },
  {
    row: 'A18',
    title: '__proto__ inside an unknown member',
    input: withMember('"x":{"__proto__":{}}'),
    expect: forbidden
  },
  { row: 'A18', title: '__proto__ in params', input: withMember('"params":{"__proto__":null}'), expect: forbidden },
  {
    row: 'A18',
    title: '__proto__ deep in arguments',
    input: withArgument('[{"a":[{"__proto__":1}]}]'),
    expect: forbidden
  },
  {
    row: 'A18',
    title: '__proto__ written with an escape',
    input: withArgument('{"\\u005f_proto__":1}'),
    expect: forbidden
  },
  {
    row: 'A18',
    title: '__proto__ in _meta',
    input: withMember('"params":{"_meta":{"__proto__":{}}}'),
    expect: forbidden
  },
  {
    row: 'A19',
    title: 'constructor.prototype in params',
    input: withMember('"params":{"constructor":{"prototype":{}}}'),
    expect: forbidden
  },
  {
    row: 'A19',
    title: 'constructor.prototype deep in arguments',
    input: withArgument('{"constructor":{"prototype":{}}}'),
    expect: forbidden
  },
  {
    row: 'A19',
    title: 'constructor.prototype as a member of the message',
    input: withMember('"constructor":{"prototype":{}}'),
    expect: forbidden
  },
  { row: 'A21', title: '100,000 nested arrays', input: nested(100_000), expect: nothing },
  { row: 'A21', title: '100,000 nested arrays in arguments', input: withArgument(nested(100_000)), expect: forbidden },
  {
    row: 'A22',
    title: '100,000 nested objects',
    input: nested(100_000, '{"a":', '}').replace(':}', ':{}}'),
    expect: nothing
  },
  {
    row: 'A22',
    title: '100,000 nested objects in arguments',
    input: withArgument(nested(100_000, '{"a":', '}').replace(':}', ':{}}')),
    expect: forbidden
  },
  { row: 'A23', title: '65 levels in params', input: withMember(`"params":{"x":${nested(63)}}`), expect: forbidden },
  { row: 'A23', title: '65 levels in an unknown member', input: withMember(`"x":${nested(64)}`), expect: forbidden },
  {
    row: 'A23',
    title: '65 levels in a response',
    input: `{"jsonrpc":"2.0","id":7,"result":${nested(64)}}`,
    expect: nothing
  },
  {
    row: 'A23',
    title: '64 levels are not too many',
    input: withMember(`"x":${nested(63)}`),
    expect: except(answered('ok id 7'), 'stateless')
  },
  {
    row: 'A24',
    title: '300,000 members',
    input: withArgument(`{${Array.from({ length: 300_000 }, (_, key) => `"${key}":1`).join(',')}}`),
    expect: forbidden
  },
  {
    row: 'A24',
    title: 'a million elements, and the id behind them',
    input: era => lastId(withArgument(`[${'{},'.repeat(1_000_000)}{}]`)(era)),
    expect: forbidden
  },
  {
    row: 'A24',
    title: 'a million elements in a response',
    input: `{"jsonrpc":"2.0","id":7,"result":{"x":[${'1,'.repeat(1_000_000)}1]}}`,
    expect: nothing
  },
  {
    row: 'A24',
    title: 'a million elements in a batch',
    input: `[{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":[${'1,'.repeat(1_000_000)}1]}}]`,
    expect: nothing
  },
  {
    row: 'A27',
    title: 'a number that does not fit, in arguments',
    input: withArgument('1e400'),
    expect: answered('-32602 id 7')
  }
]

t.test('bytes that are no message are refused the same way on every transport', async t => {
  await tryRows(t, await startServer(t), rows)
})
