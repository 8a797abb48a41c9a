import t from 'tap'
import { mergeResultOptions, withResults } from '../../../protocol/definitions/result-options.js'

t.test('a tool wins over its view, and a view over its server, field by field', async t => {
  const server = { max: 1_000, keep: 1, select: 'server' }
  t.strictSame(mergeResultOptions({}), {})
  t.strictSame(mergeResultOptions({ server }), server)
  t.strictSame(mergeResultOptions({ server, view: { max: 2_000 } }), { ...server, max: 2_000 })
  t.strictSame(
    mergeResultOptions({ server, view: { max: 2_000, keep: 2 }, tool: { keep: 3 } }),
    { max: 2_000, keep: 3, select: 'server' }
  )
})

t.test('options of a tool in a view are merged with those in its server, and win over those of the view', async t => {
  const listed = { name: 'a' }
  const ofServer = withResults({ listed }, { server: { max: 1_000 } })
  const ofTool = withResults({ listed, ...ofServer }, { tool: { max: 2_000, keep: 1 } })
  const ofView = withResults({ listed, ...ofTool }, { view: { max: 3_000, select: 'a' }, tool: { keep: 2 } })
  t.strictSame(mergeResultOptions(ofView.results ?? {}), { max: 2_000, keep: 2, select: 'a' })
})

t.test('a tool whose results may differ lists no output schema', async t => {
  const listed = { name: 'a', outputSchema: { type: 'object' } }
  t.strictSame(withResults({ listed }, { view: undefined }), {})
  t.strictSame(withResults({ listed }, { view: { max: 1_000 } }).listed, { name: 'a' })
  t.strictSame(withResults({ listed }, { tool: { select: 'a' } }).listed, { name: 'a' })
  t.equal(withResults({ listed }, { view: { keep: 1_000 } }).listed, undefined, 'nothing is different')
  t.strictSame(withResults({ listed, hasWholeResults: true }, { view: { max: 1_000 } }), {})
})
