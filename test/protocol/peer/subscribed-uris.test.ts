import t from 'tap'
import { SubscribedUris } from '../../../protocol/peer/subscribed-uris.js'

t.test('a change that could not be stored is taken again with its latest value', async t => {
  const subscribed = new SubscribedUris()
  subscribed.set('a', true)
  const first = subscribed.takeChanges()
  subscribed.set('a', false)
  const second = subscribed.takeChanges()
  t.strictSame([...second], [['a', false]])
  subscribed.restoreChanges(first)
  t.strictSame([...subscribed.takeChanges()], [['a', false]])
})
