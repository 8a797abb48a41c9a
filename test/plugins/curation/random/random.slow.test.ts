import t from 'tap'
import { RandomGateway } from './agreement.js'

t.test('10,000 random configurations agree with the reference', async t => {
  t.setTimeout(1_800_000)
  const gateway = await RandomGateway.open(t)
  const found: string[] = []
  for (let seed = 1_001; seed <= 11_000 && found.length === 0; seed++) found.push(...await gateway.differences(seed))
  t.strictSame(found, [])
})
