import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import type { PeerOptions } from '../../../protocol/peer/peer-options.js'
import { versions } from '../../../protocol/revisions/table.js'
import { client, dispatcher, modern } from '../../support/recorder.js'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** Returns the revision it was asked in. */
function revisionDispatcher (): Dispatcher {
  const mcp = dispatcher()
  for (const method of ['m', 'ping', 'server/discover']) {
    mcp.method(method, Type.Object({}), (_params, { revision }) => ({ version: revision.version }))
  }
  mcp.method('initialize', Type.Object({}), (_params, { peer, revision }) => {
    peer.initialized = true
    peer.revision = revision
    return { version: revision.version }
  })
  return mcp
}

function stranger (mcp = revisionDispatcher(), options: PeerOptions = {}) {
  const connected = client(mcp, options)
  connected.peer.revision = undefined
  return connected
}

for (const [asked, answered] of [
  ['2024-11-05', '2024-11-05'],
  ['2025-11-25', '2025-11-25'],
  ['2026-07-28', '2025-11-25'],
  ['1999-01-01', '2025-11-25'],
  [7, '2025-11-25'],
  [undefined, '2025-11-25']
] as const) {
  t.test(`initialize with ${asked} agrees on ${answered}, for everything that follows`, async t => {
    const { request } = stranger()
    t.match(await request('initialize', { protocolVersion: asked }), { result: { version: answered } })
    t.match(await request('m'), { result: { version: answered } })
  })
}

t.test('an HTTP session shakes hands once', async t => {
  const { request } = stranger()
  await request('initialize', { protocolVersion: '2025-06-18' })
  t.match(await request('initialize', { protocolVersion: '2024-11-05' }), {
    error: { code: -32600, message: /already; send it without Mcp-Session-Id/ }
  })
  t.match(await request('m'), { result: { version: '2025-06-18' } })
})

for (const transport of ['stdio', 'websocket', 'sse', 'memory'] as const) {
  t.test(`a connection (${transport}) may shake hands again`, async t => {
    const { request } = stranger(revisionDispatcher(), { transport })
    await request('initialize', { protocolVersion: '2025-06-18' })
    t.match(await request('initialize', { protocolVersion: '2024-11-05' }), { result: { version: '2024-11-05' } })
    t.match(await request('m'), { result: { version: '2024-11-05' } })
  })
}

t.test(
  'to callers without its scopes a hidden method is as one that does not exist, whatever else is wrong',
  async t => {
    const mcp = revisionDispatcher()
    mcp.method('secret', Type.Object({}), () => ({}), { scopes: ['admin'], hidden: true })
    mcp.method('wait', Type.Object({}), async () => await new Promise(() => {}))
    const eve = { principal: 'eve', scopes: new Set(['mcp']) }
    const answers = async (method: string): Promise<object[]> => {
      const [early, expired, busy] = [
        stranger(mcp, { identity: eve }),
        client(mcp, { identity: { ...eve, expires: 1 } }),
        client(mcp, { identity: eve })
      ]
      busy.send({ jsonrpc: '2.0', id: 1, method: 'wait' })
      return [await early.request(method), await expired.request(method), await busy.request(method)]
    }
    const unknown = await answers('absent')
    t.match(unknown, [{ error: { code: -32601 } }, { error: { code: -32601 } }, { error: { code: -32601 } }])
    t.strictSame(await answers('secret'), JSON.parse(JSON.stringify(unknown).replaceAll('absent', 'secret')))
    t.match(await stranger(mcp, { identity: { principal: 'ann', scopes: new Set(['admin']) } }).request('secret'), {
      error: { code: -32600, message: /initialize first/ }
    })
  }
)

t.test('a request that names its revision is answered in it, before and after a handshake', async t => {
  const { request } = stranger()
  t.match(await request('m', modern()), { result: { version: '2026-07-28' } })
  await request('initialize', { protocolVersion: '2024-11-05' })
  t.match(await request('m', modern()), { result: { version: '2026-07-28' } })
  t.match(await request('m'), { result: { version: '2024-11-05' } })
})

t.test('a version that is not spoken is refused with those that are', async t => {
  for (const version of ['1999-01-01', '2025-11-25', '']) {
    const { request, channel } = stranger()
    t.match(await request('m', { _meta: { [VERSION]: version, [CAPABILITIES]: {} } }), {
      error: { code: -32022, data: { requested: version, supported: versions } }
    })
    t.strictSame(channel.statuses, [400])
  }
})

const MALFORMED: Array<[what: string, meta: unknown, expected: RegExp]> = [
  ['a version that is no text', { [VERSION]: 7, [CAPABILITIES]: {} }, /protocolVersion/],
  ['no capabilities', { [VERSION]: '2026-07-28' }, /clientCapabilities/],
  ['capabilities that are no object', { [VERSION]: '2026-07-28', [CAPABILITIES]: [] }, /clientCapabilities/],
  ['a log level that does not exist', { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, [LOG_LEVEL]: 'loud' }, /logLevel/],
  ['a progress token that is an object', { progressToken: {} }, /progressToken/],
  ['a progress token with a fraction', { progressToken: 1.5 }, /progressToken/],
  ['text', 'x', /_meta must be an object/],
  ['a list', [], /_meta must be an object/]
]

for (const [what, _meta, expected] of MALFORMED) {
  t.test(`a _meta with ${what} is refused with -32602 and HTTP 400`, async t => {
    const { request, channel } = client(revisionDispatcher())
    t.match(await request('m', { _meta }), { error: { code: -32602, message: expected } })
    t.strictSame(channel.statuses, [400])
  })
}

t.test('methods that a revision does not have are not found in it', async t => {
  const { request } = client(revisionDispatcher())
  t.match(await request('server/discover'), { error: { code: -32601 } })
  t.match(await request('server/discover', modern()), { result: { version: '2026-07-28' } })
  t.match(await request('ping'), { result: {} })
  const { request: other, channel } = client(revisionDispatcher())
  t.match(await other('ping', modern()), { error: { code: -32601 } })
  t.match(await other('initialize', modern()), { error: { code: -32601 } })
  t.strictSame(channel.statuses, [404, 404])
})
