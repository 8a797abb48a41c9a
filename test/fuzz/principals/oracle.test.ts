import t from 'tap'
import type { Head } from '../case.js'
import { KEYS, MARKS } from './callers.js'
import { holderOf } from './holder.js'
import { faultsOfReply, faultsOfText } from './oracle.js'

const head = (method: string, path: string, ...headers: Head['headers']): Head => ({ method, path, headers })
const bearer = (key: string): [string, string] => ['authorization', `Bearer ${key}`]
const TICKET = 't'.repeat(43)
const holder = (asked: Head) => holderOf(asked, ticket => ticket === TICKET ? 'bob' : undefined)

t.test('a request belongs to a caller when it shows one right credential, and to none otherwise', async t => {
  t.equal(holder(head('POST', '/mcp', bearer(KEYS.ada))), 'ada')
  t.equal(holder(head('POST', '/mcp', ['Authorization', `bearer   ${KEYS.bob} `])), 'bob')
  t.equal(holder(head('POST', '/message', ['x-api-key', KEYS.bob])), 'bob')
  t.equal(holder(head('GET', `/sse?ticket=${TICKET}`)), 'bob')
  t.equal(holder(head('GET', '/mcp', ['sec-websocket-protocol', `mcp, ticket.${TICKET}`])), 'bob')
  for (const unidentified of [
    head('POST', '/mcp'),
    head('POST', '/mcp', bearer(`${KEYS.ada}x`)),
    head('POST', '/mcp', bearer(KEYS.ada), bearer(KEYS.ada)),
    head('POST', '/mcp', bearer(KEYS.ada), ['x-api-key', KEYS.ada]),
    head('POST', `/mcp?token=${KEYS.ada}`),
    head('GET', '/mcp?token=x', bearer(KEYS.ada)),
    head('POST', `/mcp?ticket=${TICKET}`),
    head('GET', `/sse?ticket=${TICKET}`, bearer(KEYS.bob)),
    head('GET', '/sse?ticket=x')
  ]) {
    t.equal(holder(unidentified), undefined, JSON.stringify(unidentified))
  }
})

const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'
const faults = (
  status: number,
  headers: Record<string, string>,
  body: string,
  asked = head('GET', '/mcp'),
  who?: 'ada' | 'bob'
) =>
  faultsOfReply(
    { status, headers: new Map(Object.entries(headers)), body, whole: true },
    { head: asked, holder: who, stateless: false, owners: new Map([['hers', 'ada']]) }
  ).map(({ kind }) => kind)

t.test('a refusal has a challenge, a time to come back and a JSON-RPC error, as its status asks', async t => {
  const challenge = { 'www-authenticate': 'Bearer realm="x"' }
  t.strictSame(faults(401, challenge, refusal), [])
  t.strictSame(faults(401, {}, refusal), ['access'], 'no challenge')
  t.strictSame(faults(401, challenge, ''), ['access'], 'no error')
  t.strictSame(faults(401, challenge, refusal, head('GET', '/mcp'), 'ada'), ['access'], 'a right key is refused')
  t.strictSame(faults(429, { 'retry-after': '1' }, refusal), [])
  t.strictSame(faults(429, {}, refusal), ['access'], 'no Retry-After')
  t.strictSame(
    faults(
      429,
      { 'retry-after': '1' },
      refusal.replace('no', 'too many wrong credentials'),
      head('GET', '/mcp'),
      'ada'
    ),
    ['access'],
    'a right key is refused for wrong ones'
  )
})

t.test('without a right credential there is nothing but three fields of health', async t => {
  t.strictSame(faults(200, {}, '{"status":"healthy","live":true,"ready":true}', head('GET', '/health')), [])
  t.strictSame(faults(200, {}, '{"status":"healthy","live":true,"ready":true,"sessions":1}', head('GET', '/health')), [
    'access'
  ])
  t.strictSame(faults(200, {}, '{}'), ['access'])
  t.strictSame(faults(101, {}, ''), ['access'])
})

t.test('a text of one caller is a fault at the other, and a credential is one everywhere', async t => {
  t.strictSame(faultsOfText(`x ${MARKS.ada}`, 'ada'), [])
  t.match(faultsOfText(`x ${MARKS.ada}`, 'bob'), [{ kind: 'isolation' }])
  t.match(faultsOfText(`x ${MARKS.bob}`, undefined), [{ kind: 'isolation' }])
  t.match(faultsOfText(KEYS.ada, 'ada'), [{ kind: 'secret' }])
  t.strictSame(faults(200, {}, '{}', head('DELETE', '/mcp', ['mcp-session-id', 'hers']), 'bob'), ['isolation'])
  t.strictSame(faults(200, {}, '{}', head('DELETE', '/mcp', ['mcp-session-id', 'hers']), 'ada'), [])
  t.strictSame(faults(202, {}, '', head('POST', '/message?sessionId=hers'), 'bob'), ['isolation'])
})
