import t from 'tap'
import { TARGETS, type TargetName } from './case.js'
import { corpusOf } from './corpus.js'
import { short } from './short.js'

/** Some two thousand messages, most of them where they cost least. */
const COUNTS: Record<TargetName, number> = { dispatcher: 1_200, http: 200, websocket: 200, stdio: 400, process: 200 }

for (const name of TARGETS) {
  t.test(`${name}: what is in the corpus and what is new is answered as it should be`, async t => {
    const corpus = corpusOf(name)
    const report = await short(t, name, { count: COUNTS[name], corpus })
    t.strictSame(report.findings, [])
    t.ok(report.inputs >= COUNTS[name] && report.behaviours > 50, `${report.inputs} messages showed ${report.behaviours} behaviours`)
  })
}
