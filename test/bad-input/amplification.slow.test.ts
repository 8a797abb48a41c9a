import t from 'tap'
import { amplification } from '../chaos/amplification.js'
import { cleanUp } from '../chaos/gateway.js'

t.after(cleanUp)

t.test('no message costs a multiple of what its bytes cost as one string', { timeout: 600_000 }, async t => {
  const { defaults, run } = amplification
  const report = await run({ ...defaults, times: 1, small: 50, handshakes: 20, calls: 10, subscriptions: 200 })
  t.comment(String(report))
  t.strictSame(report.broken, [])
  t.ok(report.rows.length > 100, `${report.rows.length} rows`)
})
