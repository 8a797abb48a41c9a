import t from 'tap'
import { cutsNodes } from './cuts-nodes.js'
import { cleanUp } from './gateway.js'
import { nodes } from './nodes/all.js'
import { withRedis } from '../support/environment/redis-server.js'

/** Some of `npm run chaos -- nodes`, with small numbers. A busy machine may take its time. */
const NODES: Record<string, [name: string, options: Record<string, number>]> = {
  'answers to questions of each kind arrive from another node': ['answers', { answers: 50 }],
  'a node that is killed with calls in flight leaves no call and no event behind': [
    'kill',
    { calls: 30, last: 30_000 }
  ],
  'a Redis that ends all connections again and again costs no answer': ['connections', { times: 2 }]
}
const SLOWLY = { each: 1, calm: 500, wait: 30_000, back: 30_000 }

t.after(cleanUp)

t.test('streams that are cut again and again lose nothing, with another node at each reconnect', withRedis, async t => {
  const report = await cutsNodes.run({ events: 400, cuts: 20, kill: 300 })
  t.comment(String(report))
  t.strictSame(report.broken, [])
})

t.test('several nodes stand what happens around them', withRedis, async t => {
  for (const [sentence, [name, options]] of Object.entries(NODES)) {
    t.test(sentence, async t => {
      const report = await nodes[name]?.run({ ...nodes[name].defaults, ...SLOWLY, ...options })
      t.comment(String(report))
      t.strictSame(report?.broken, [])
    })
  }
})
