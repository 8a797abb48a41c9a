import { Type } from '@sinclair/typebox'
import t from 'tap'
import { Notifications } from '../../../protocol/dispatch/notifications.js'
import { Peer } from '../../../protocol/peer/peer.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

const Counted = Type.Object({ count: Type.Integer() })

function withListener () {
  const reported: unknown[] = []
  const notifications = new Notifications((error, method) => { reported.push([error, method]) })
  const received: unknown[] = []
  const peer = new Peer()
  notifications.on('counted', Counted, ({ count }, from) => { received.push([count, from === peer]) })
  return {
    notifications,
    received,
    reported,
    notify: (method: string, params: Params = {}) =>
      notifications.dispatch({ kind: 'notification', method, params }, peer)
  }
}

t.test('a listener gets the params of a notification and the peer that sent it', async t => {
  const { received, notify } = withListener()
  notify('counted', { count: 1 })
  notify('counted', { count: 2, more: true })
  t.strictSame(received, [[1, true], [2, true]])
})

t.test('invalid notifications are ignored, and so are those without a handler', async t => {
  const { received, notify } = withListener()
  for (const params of [{}, { count: 'one' }, { count: 1.5 }]) notify('counted', params)
  for (const name of ['other', '', 'constructor', '__proto__', 'toString']) notify(name, { count: 1 })
  t.strictSame(received, [])
})

t.test('a notification can be registered once', async t => {
  const { notifications, received, notify } = withListener()
  t.throws(
    () =>
      notifications.on('counted', Counted, () => {
        received.push('second')
      }),
    { message: 'notification counted is registered already' }
  )
  notify('counted', { count: 1 })
  t.strictSame(received, [[1, true]])
})

t.test('what a listener throws is reported with its method, and the next notification is delivered', async t => {
  const { notifications, received, reported, notify } = withListener()
  notifications.on('broken', Type.Object({}), () => { throw new Error('broken') })
  notify('broken')
  t.match(reported, [[{ message: 'broken' }, 'broken']])
  notify('counted', { count: 3 })
  t.strictSame(received, [[3, true]])
})
