import t from 'tap'
import { KeptResults, type Reader } from '../../../../plugins/curation/results/kept-results.js'
import { onRedis } from '../../../support/environment/on-redis.js'
import { redisServer, withRedis } from '../../../support/environment/redis-server.js'

const LIMITS = { maxResultBytes: 3_000_000, maxAllResultBytes: 5_000_000 }
const TEXT = 'größer 😀\n'.repeat(100_000)
const of = (principal: string): Reader => ({ identity: { principal, scopes: 'all' }, view: undefined })
const ada = of('ada')

t.test('a result that one node keeps is served by another, and counted at both together', withRedis, async t => {
  const { url } = await redisServer(t)
  const subject = await onRedis(t, url)
  const other = await subject.another?.()
  if (other === undefined) throw new Error('there is no other node')
  const [here, there] = [new KeptResults(subject.store, LIMITS), new KeptResults(other, LIMITS)]
  const result = { text: TEXT, mimeType: 'text/plain', scopes: [], view: undefined, part: 1_000, keep: 600_000 }
  const kept = await here.add('ada', result)
  if (typeof kept === 'string') throw new Error(kept)
  t.equal((await there.read(kept.id, ada, { isWhole: true }))?.text, TEXT)
  t.equal((await there.read(kept.id, ada, { offset: 500_000, length: 7 }))?.text, TEXT.slice(500_000, 500_007))
  t.equal(await there.read(kept.id, of('bob'), {}), undefined)
  t.match(await there.add('ada', { ...result, text: TEXT + TEXT }), /limit maxResultBytes/)
  t.match(await there.add('bob', { ...result, text: TEXT }), { bytes: Buffer.byteLength(TEXT) })
  const brief = await here.add('ada', { ...result, text: 'brief', keep: 1 })
  t.match(brief, { bytes: 5 })
})
