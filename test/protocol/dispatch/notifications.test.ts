import { Type } from '@sinclair/typebox'
import t from 'tap'
import { Notifications } from '../../../protocol/dispatch/notifications.js'
import { Peer } from '../../../protocol/peer/peer.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

const Counted = Type.Object({ count: Type.Integer() })

function hearing () {
  const reported: unknown[] = []
  const notifications = new Notifications((error, method) => { reported.push([error, method]) })
  const heard: unknown[] = []
  const peer = new Peer()
  notifications.on('counted', Counted, ({ count }, from) => { heard.push([count, from === peer]) })
  return { notifications, heard, reported, tell: (method: string, params: Params = {}) => notifications.dispatch({ kind: 'notification', method, params }, peer) }
}

t.test('a listener gets the params of a notification and the peer that sent it', async t => {
  const { heard, tell } = hearing()
  tell('counted', { count: 1 })
  tell('counted', { count: 2, more: true })
  t.strictSame(heard, [[1, true], [2, true]])
})

t.test('invalid notifications are ignored, and so are those without a handler', async t => {
  const { heard, tell } = hearing()
  for (const params of [{}, { count: 'one' }, { count: 1.5 }]) tell('counted', params)
  for (const name of ['other', '', 'constructor', '__proto__', 'toString']) tell(name, { count: 1 })
  t.strictSame(heard, [])
})

t.test('one is registered once', async t => {
  const { notifications, heard, tell } = hearing()
  t.throws(() => notifications.on('counted', Counted, () => { heard.push('second') }), { message: 'notification counted is registered already' })
  tell('counted', { count: 1 })
  t.strictSame(heard, [[1, true]])
})

t.test('what a listener throws is reported with its method, and the next notification is delivered', async t => {
  const { notifications, heard, reported, tell } = hearing()
  notifications.on('broken', Type.Object({}), () => { throw new Error('broken') })
  tell('broken')
  t.match(reported, [[{ message: 'broken' }, 'broken']])
  tell('counted', { count: 3 })
  t.strictSame(heard, [[3, true]])
})
