import t from 'tap'
import { classifyPosted } from '../../../protocol/sessions/posted-message.js'
import { modern, oldest } from '../../../protocol/revisions/table.js'
import type { Incoming } from '../../../protocol/wire/jsonrpc.js'

const request = (method: string, selfDescribed = false): Incoming => ({
  kind: 'request',
  id: 1,
  method,
  params: {},
  meta: {},
  selfDescribed,
  size: 0
})
const notification: Incoming = { kind: 'notification', method: 'notifications/initialized', params: {} }
const response: Incoming = { kind: 'response', id: 1, result: {} }

const rows: Array<
  [title: string, incoming: Incoming, version: string | undefined, namesSession: boolean, kind: string]
> = [
  ['a request that names a stateless version in its _meta', request('tools/list', true), undefined, true, 'stateless'],
  ['a request under the header of a stateless version', request('initialize'), modern.version, true, 'stateless'],
  ['initialize', request('initialize'), undefined, false, 'initialize'],
  ['initialize in a session', request('initialize'), undefined, true, 'reinitialize'],
  ['a ping without a session', request('ping'), undefined, false, 'sessionless'],
  ['a ping in a session', request('ping'), oldest.version, true, 'in-session'],
  ['a request without a session, which is refused there', request('tools/list'), undefined, false, 'in-session'],
  ['a notification', notification, undefined, true, 'in-session'],
  ['a response', response, undefined, true, 'in-session']
]

for (const [title, incoming, version, namesSession, kind] of rows) {
  t.test(`${title}: ${kind}`, async t => {
    t.strictSame(classifyPosted(incoming, version, namesSession), { kind, incoming })
  })
}

t.test('a response to a stateless server is refused', async t => {
  t.match(classifyPosted(response, modern.version, false), {
    kind: 'stateless',
    incoming: { kind: 'invalid', id: undefined }
  })
})
