import t from 'tap'
import { readBounded } from '../../../lib/network/read-bounded.js'

const tooLarge = () => new Error('too large')

t.test('reads a body up to the limit', async t => {
  t.equal(String(await readBounded(new Response('12345'), 5, tooLarge)), '12345')
  t.equal((await readBounded(new Response(null), 5, tooLarge)).length, 0)
})

t.test('stops beyond the limit, however much would follow', async t => {
  let chunks = 0
  const endless = new ReadableStream<Uint8Array>({ pull: controller => { chunks++; controller.enqueue(new Uint8Array(100)) } })
  await t.rejects(readBounded(new Response(endless), 1_000, tooLarge), { message: 'too large' })
  t.ok(chunks < 20)
})
