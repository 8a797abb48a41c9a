import t from 'tap'
import { cleanUp } from '../chaos/gateway.js'
import { rolling } from '../chaos/rolling.js'
import { withNodes } from '../support/nodes/three-nodes.js'

t.after(cleanUp)

// The quick version of `npm run chaos -- rolling`.
t.test(
  'nodes behind nginx are restarted one after the other, and no call fails, runs twice or loses its result',
  withNodes,
  async t => {
    t.setTimeout(300_000)
    const report = await rolling.run({
      ...rolling.defaults,
      restarts: 2,
      modern: 4,
      sessions: 2,
      sockets: 1,
      drain: 2_000,
      probe: 100,
      away: 5
    })
    t.comment(String(report))
    t.strictSame(report.broken, [])
    t.equal(report.rows.length, 2)
  }
)
