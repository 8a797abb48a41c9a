import t from 'tap'
import { TARGETS, type TargetName } from './case.js'
import { corpusOf } from './corpus.js'
import { short } from './short.js'

/** How many new messages follow those of the corpus, most of them where they cost least. */
const COUNTS: Record<TargetName, number> = {
  dispatcher: 600,
  http: 100,
  websocket: 100,
  stdio: 200,
  process: 50,
  principals: 200
}

for (const name of TARGETS) {
  t.test(`${name}: what is in the corpus and what is new is answered as it should be`, async t => {
    const corpus = corpusOf(name)
    const report = await short(t, name, { count: COUNTS[name], corpus })
    t.strictSame(report.findings, [])
    t.ok(
      report.inputs - report.known >= COUNTS[name] && report.behaviours > 50,
      `${report.inputs} messages showed ${report.behaviours} behaviours`
    )
  })
}
