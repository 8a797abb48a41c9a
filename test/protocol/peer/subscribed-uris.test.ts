import t from 'tap'
import { SubscribedUris } from '../../../protocol/peer/subscribed-uris.js'

t.test('what could not be kept is kept as it is by then, although a later change was kept first', async t => {
  const subscribed = new SubscribedUris()
  subscribed.set('a', true)
  const first = subscribed.takeChanges()
  subscribed.set('a', false)
  const second = subscribed.takeChanges()
  t.strictSame([...second], [['a', false]])
  subscribed.restoreChanges(first)
  t.strictSame([...subscribed.takeChanges()], [['a', false]])
})
