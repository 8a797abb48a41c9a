import t from 'tap'
import type { Id, Message } from '../../../protocol/wire/jsonrpc.js'
import { UnaskedMessages } from '../../../transports/client/unasked-messages.js'

const responseTo = (id: Id): Message => ({ kind: 'response', id, result: {} })

t.test('a request without a response, such as one that was cancelled, lets no other response pass uncounted', async t => {
  let pauses = 0
  const source = { pause: () => { pauses++ }, resume: () => {} }
  const unasked = new UnaskedMessages(1)
  t.teardown(() => unasked.stop())
  for (let id = 0; id < 10; id++) unasked.expect(id)
  for (let id = 1; id < 10; id++) unasked.pass(source, responseTo(id), 10)
  t.equal(pauses, 0, 'those were asked for')
  unasked.pass(source, responseTo('another'), 10)
  t.equal(pauses, 1)
  unasked.stop()
  unasked.pass(source, responseTo(0), 10)
  t.equal(pauses, 1, 'a late response was asked for')
  unasked.pass(source, responseTo(0), 10)
  t.equal(pauses, 2, 'but only one')
})
