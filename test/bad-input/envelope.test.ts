import t from 'tap'
import { call, callTool, notification } from '../support/messages.js'
import { answered, except, ignored, only, tryRows, unreadable, variants, type Row } from '../support/rows.js'
import { startServer } from '../support/server.js'

const noMessage = unreadable(-32600)
const badRequest = unreadable(-32600, '7')
const badMeta = {
  ...answered('-32602 id 7'),
  session: '400 -32602 id 7',
  stateless: '400 -32602 id 7',
  message: '400 -32602 id 7'
}
const unknown = answered('-32601 id 7', '-32601 id 7', 200, 404)
const MODERN_TRANSPORTS = ['stateless', 'websocket 2026', 'stdio 2026'] as const

const ping = (members: string) => `{"jsonrpc":"2.0","method":"ping",${members}}`
const metaless = (meta: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: meta } })
const rows: Row[] = [
  ...variants(
    ['42', '"x"', 'null', 'true'].map(input => ({
      row: 'B1',
      title: `a message that is ${input}`,
      input,
      expect: noMessage
    }))
  ),
  { row: 'B2', title: 'an empty object', input: '{}', expect: noMessage },
  { row: 'B3', title: 'no jsonrpc', input: '{"id":7,"method":"ping"}', expect: badRequest },
  { row: 'B3', title: 'jsonrpc 1.0', input: '{"jsonrpc":"1.0","id":7,"method":"ping"}', expect: badRequest },
  { row: 'B3', title: 'jsonrpc as a number', input: '{"jsonrpc":2.0,"id":7,"method":"ping"}', expect: badRequest },
  { row: 'B4', title: 'no method', input: '{"jsonrpc":"2.0","id":7}', expect: badRequest },
  { row: 'B4', title: 'a method that is a number', input: '{"jsonrpc":"2.0","id":7,"method":5}', expect: badRequest },
  { row: 'B4', title: 'a method that is null', input: '{"jsonrpc":"2.0","id":7,"method":null}', expect: badRequest },
  {
    row: 'B4',
    title: 'a method in another case',
    input: '{"jsonrpc":"2.0","id":7,"Method":"ping"}',
    expect: badRequest
  },
  { row: 'B5', title: 'an empty method', input: call(''), expect: unknown },
  { row: 'B5', title: 'a method of JSON-RPC itself', input: call('rpc.discover'), expect: unknown },
  ...variants(
    ['null', '{}', '[]', 'true', '1.5', '1e400', '9007199254740993', '-9007199254740992'].map((id, index) => ({
      row: index === 0 ? 'B6' : 'B7–B10',
      title: `a request with the id ${id}`,
      input: ping(`"id":${id}`),
      expect: noMessage
    }))
  ),
  ...variants(
    ['""', '0', '-1', '"1"', '1', '9007199254740991'].map(id => ({
      row: 'B11',
      title: `the id ${id} is given back as it is`,
      input: call('tools/list', {}, JSON.parse(id)),
      expect: answered(`ok id ${id}`)
    }))
  ),
  { row: 'B14', title: 'params that are an array', input: ping('"id":7,"params":[]'), expect: answered('-32602 id 7') },
  { row: 'B15', title: 'params that are a string', input: ping('"id":7,"params":"x"'), expect: badRequest },
  { row: 'B15', title: 'params that are null', input: ping('"id":7,"params":null'), expect: badRequest },
  ...variants(
    [5, 'x', null, []].map(meta => ({
      row: 'B16',
      title: `a _meta that is ${JSON.stringify(meta)}`,
      input: metaless(meta),
      expect: badMeta
    }))
  ),
  ...variants(
    [{}, [], null, true, 1.5].map(token => ({
      row: 'B17',
      title: `the progress token ${JSON.stringify(token)}`,
      input: withToken(token),
      expect: badMeta
    }))
  ),
  { row: 'B19', title: 'an unknown method', input: call('tools/frobnicate'), expect: unknown },
  ...variants(
    ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map(name => ({
      row: 'B19',
      title: `a method called ${name}`,
      input: call(name),
      expect: unknown
    }))
  ),
  ...variants(
    ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'].map(method => ({
      row: 'B20',
      title: `${method} in the stateless era`,
      input: call(method, { level: 'info', uri: 'test://text' }),
      expect: only(unknown, ...MODERN_TRANSPORTS)
    }))
  ),
  ...variants(
    ['server/discover', 'subscriptions/listen'].map(method => ({
      row: 'B20',
      title: `${method} in the eras with a handshake`,
      input: call(method),
      expect: except(unknown, ...MODERN_TRANSPORTS)
    }))
  ),
  ...variants(
    ['notifications/initialized', 'initialized', 'notifications/cancelled'].map(method => ({
      row: 'B21',
      title: `${method} with an id is a request`,
      input: call(method),
      expect: unknown
    }))
  ),
  { row: 'B23', title: 'an unknown notification', input: notification('notifications/frobnicated'), expect: ignored },
  { row: 'B23', title: 'a notification called __proto__', input: notification('__proto__'), expect: ignored },
  {
    row: 'B23',
    title: 'a request sent without an id',
    input: notification('tools/call', { name: 'count' }),
    expect: ignored
  },
  ...['"result":{}', '"error":{"code":1,"message":"x"}'].map(outcome => ({
    row: 'B25',
    title: `a response to no request, with ${outcome}`,
    input: `{"jsonrpc":"2.0","id":99,${outcome}}`,
    expect: { ...ignored, stateless: '400 -32600 no id' }
  })),
  {
    row: 'B24',
    title: 'a response with a result and an error',
    input: '{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}',
    expect: noMessage
  },
  {
    row: 'B25',
    title: 'a response with a result and no id',
    input: '{"jsonrpc":"2.0","result":{}}',
    expect: noMessage
  },
  // Its id is one of ours: in an answer the client would take it for one of its own.
  {
    row: 'B25',
    title: 'a response whose error is text',
    input: '{"jsonrpc":"2.0","id":99,"error":"x"}',
    expect: noMessage
  }
]

t.test('envelopes that are not right are refused on every transport', async t => {
  const server = await startServer(t)
  await tryRows(t, server, rows)
  t.equal(server.seen.counted, 0, 'no tool was run by a notification')
})

function withToken (progressToken: unknown): Row['input'] {
  return era =>
    callTool('echo', { text: 'x' })(era).replace(
      era === 'modern' ? '"_meta":{' : '"params":{',
      era === 'modern'
        ? `"_meta":{"progressToken":${JSON.stringify(progressToken)},`
        : `"params":{"_meta":{"progressToken":${JSON.stringify(progressToken)}},`
    )
}
