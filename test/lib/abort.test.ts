import t from 'tap'
import { Cancellation } from '../../lib/abort.js'

t.test('each listener runs once, with the reason, and one that was removed does not', async t => {
  const cancellation = new Cancellation()
  const heard: string[] = []
  cancellation.on(({ message }) => heard.push(`first ${message}`))
  const remove = cancellation.on(() => heard.push('removed'))
  cancellation.on(({ message }) => heard.push(`third ${message}`))
  remove()
  cancellation.throwIfCancelled()
  cancellation.cancel(new Error('over'))
  cancellation.cancel(new Error('again'))
  t.strictSame(heard, ['first over', 'third over'])
  t.equal(cancellation.reason?.message, 'over')
  t.throws(() => cancellation.throwIfCancelled(), /over/)
})

t.test('a listener may take the place of the first one, which was removed', async t => {
  const cancellation = new Cancellation()
  const heard: string[] = []
  cancellation.on(() => heard.push('one'))()
  const removeTwo = cancellation.on(() => heard.push('two'))
  cancellation.on(() => heard.push('three'))
  removeTwo()
  cancellation.cancel(new Error('over'))
  t.strictSame(heard, ['three'])
})
