import t from 'tap'
import type { Client } from '../../../console/client/contract.js'
import {
  forgetSubscriptions,
  resubscribe,
  subscribe,
  subscriptions,
  unsubscribe
} from '../../../console/state/subscriptions.js'

function server (fail?: Error) {
  const changed: Array<() => void> = []
  let ended = 0
  const client = {
    subscribe: async (_uri: string, listener: () => void) => {
      if (fail !== undefined) throw fail
      changed.push(listener)
      return () => { ended++ }
    }
  } as unknown as Client
  return { client, changed, ended: () => ended }
}

t.afterEach(() => { for (const uri of [...subscriptions.value.keys()]) unsubscribe(uri) })

t.test('counts changes and says when the last one was', async t => {
  const { client, changed, ended } = server()
  await subscribe(client, 'a:b')
  t.match(subscriptions.value.get('a:b'), { state: 'on', changes: 0, changedAt: undefined })
  changed[0]?.()
  changed[0]?.()
  t.match(subscriptions.value.get('a:b'), { changes: 2, changedAt: Number })
  unsubscribe('a:b')
  changed[0]?.()
  t.equal(subscriptions.value.size, 0)
  t.equal(ended(), 1)
})

t.test('one that fails says why', async t => {
  await subscribe(server(new Error('cannot be watched')).client, 'a:b')
  t.match(subscriptions.value.get('a:b'), { state: 'failed', error: 'cannot be watched' })
})

t.test('one that was given up before it began is ended', async t => {
  const { client, ended } = server()
  const begun = subscribe(client, 'a:b')
  unsubscribe('a:b')
  await begun
  t.equal(ended(), 1)
  t.equal(subscriptions.value.size, 0)
})

t.test('only the latest of several attempts counts, and the others are ended', async t => {
  const { client, changed, ended } = server()
  const first = subscribe(client, 'a:b')
  unsubscribe('a:b')
  const second = subscribe(client, 'a:b')
  await Promise.all([first, second])
  t.equal(ended(), 1)
  t.match(subscriptions.value.get('a:b'), { state: 'on', changes: 0 })
  changed[1]?.()
  t.match(subscriptions.value.get('a:b'), { changes: 1 })
})

t.test('another caller hears of nothing', async t => {
  const { client, ended } = server()
  await Promise.all([subscribe(client, 'a:b'), subscribe(client, 'c:d')])
  forgetSubscriptions()
  const next = server()
  resubscribe(next.client)
  t.strictSame([ended(), subscriptions.value.size, next.changed.length], [2, 0, 0])
})

t.test('subscriptions go on over a new connection, with their counts', async t => {
  const first = server()
  await subscribe(first.client, 'a:b')
  first.changed[0]?.()
  const second = server()
  resubscribe(second.client)
  await new Promise(resolve => setImmediate(resolve))
  second.changed[0]?.()
  t.match(subscriptions.value.get('a:b'), { state: 'on', changes: 2 })
})
