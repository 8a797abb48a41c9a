import t from 'tap'
import { RandomGateway } from './agreement.js'

t.test('lists, finds, calls, completions and suggestions of random views and callers are those of the reference', async t => {
  const gateway = await RandomGateway.open(t)
  const found: string[] = []
  for (let seed = 1; seed <= 100 && found.length === 0; seed++) found.push(...await gateway.differences(seed))
  t.strictSame(found, [])
})
