import t from 'tap'
import { gateway } from '../support/gateway.js'
import { describe, type Json } from '../support/specification/message.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const DESCRIBED = { ...LIST, params: describe({}, modern, {}) }

t.test('POST /message speaks the revision that the request names', async t => {
  const app = await gateway(t)
  const post = async (body: unknown, version?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'mcp-protocol-version': version })
    }
    const { statusCode, body: text } = await app.inject({
      method: 'POST',
      url: '/message',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
    return { status: statusCode, reply: JSON.parse(text) as Json }
  }

  t.notMatch(JSON.stringify(await post(LIST)), '"title"', 'the first one when nothing is said')
  t.match(JSON.stringify(await post(LIST, newestLegacy.version)), '"title"', 'that of the header')
  t.match((await post(DESCRIBED)).reply, { result: { resultType: 'complete' } }, 'that of _meta')
  t.match((await post(DESCRIBED, modern.version)).reply, { result: { resultType: 'complete' } }, 'that of both')
  t.match(
    await post(LIST, modern.version),
    { status: 400, reply: { id: 1, error: { code: -32602 } } },
    'a stateless revision needs _meta'
  )
  t.match((await post([LIST], modern.version)).reply, { error: { code: -32600 } }, 'and has no batches')
  t.notOk('id' in (await post('{', modern.version)).reply, 'nor null for an id')
  t.equal((await post(LIST, '1999-01-01')).status, 400, 'one that does not exist is refused')
})
