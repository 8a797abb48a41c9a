import t from 'tap'
import { loadProjections } from '../../../../plugins/curation/results/projections.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

const ISSUES = JSON.stringify({ items: [{ id: 1, title: 'a', body: 'long' }, { id: 2, title: 'b', body: 'long' }] })

t.test('an expression is evaluated, and what cannot be is explained', async t => {
  const projections = await loadProjections()
  const project = (expression: string, json = ISSUES): unknown => projections.project(expression, json)
  t.strictSame(project('items[].{id: id}'), { json: '[{"id":1},{"id":2}]' })
  t.strictSame(project('items[0].title'), { json: '"a"' })
  t.strictSame(project('length(items)'), { json: '2' })
  t.strictSame(project('nothing'), { why: 'it has no value there' })
  t.match(project('length(items[0].id)'), { why: /Error/ }, 'the kind of the error alone')
  t.equal(project('items', '{"items":'), undefined, 'not JSON')
})

t.test('a mistake in an expression is a sentence', async t => {
  const projections = await loadProjections()
  t.equal(projections.explain('items[].{id: id, n: length(title)}'), undefined)
  for (const wrong of ['items[', '{', 'a b', 'items[].{id}', '']) t.match(projections.explain(wrong), /\w+/, wrong)
  t.equal(projections.explain('items[].lenth(@)'), 'it has no function "lenth"; did you mean "length"?')
  t.match(projections.explain('pad_left(title, `9`)'), /"pad_left" is not served/)
})

t.test('an expression is not evaluated for ever, and its value is not many times as long as the result', async t => {
  const projections = await loadProjections()
  const many = JSON.stringify(Array.from({ length: 3_000 }, (_, index) => ({ index, text: 'x'.repeat(20) })))
  t.match(projections.project('[].{all: $}', many), { why: /many times as long|longer than 50 ms|RangeError/ })
  const doubled = `${'[@,@]|'.repeat(40)}@`
  t.match(projections.project(doubled, ISSUES), { why: /longer than 50 ms|RangeError/ })
  t.strictSame(projections.project('items[0].id', ISSUES), { json: '1' }, 'the next one is evaluated as ever')
})

t.test('an expression that does not end holds up other calls for a moment only', async t => {
  const projections = await loadProjections()
  const endless = `${'[@,@]|'.repeat(40)}@`
  // Threads of V8 that collect garbage meanwhile are counted, too.
  const cost = await bestTime(200, async () => cpuTime(() => { projections.project(endless, ISSUES) }))
  t.ok(cost < 200, `${cost} ms of the processor`)
})

t.test('a projection cannot reach what is outside of the result', async t => {
  const projections = await loadProjections()
  for (const expression of ['constructor', '__proto__.constructor', 'items.constructor', 'process', 'env(`1`)']) {
    t.notMatch(projections.project(expression, ISSUES), { json: /./ }, expression)
  }
})

/** Results as hostile as their size allows. */
const HOSTILE: Record<string, string> = {
  flat: JSON.stringify(Array.from({ length: 100_000 }, () => 0)),
  objects: JSON.stringify(Array.from({ length: 50_000 }, () => ({}))),
  lists: JSON.stringify(Array.from({ length: 50_000 }, () => [[]])),
  keys: JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]))),
  deep: '['.repeat(500) + ']'.repeat(500),
  text: JSON.stringify({ items: [{ id: 'x'.repeat(500_000) }] })
}
const EXPRESSIONS = [
  'items[].{id: id}', '[].{id: id}', '[][][]', '*', '[*].*', '[?id==`1`]', '[].[@, @]', 'values(@)', 'sort(@)'
]

t.test('whatever the result is, its projection costs less than a hundred times reading it', async t => {
  const projections = await loadProjections()
  for (const [name, json] of Object.entries(HOSTILE)) {
    const read = (): void => { for (let times = 0; times < 5; times++) JSON.stringify(JSON.parse(json)) }
    const reading = await bestTime(0, async () => cpuTime(read), 5) / 5
    for (const expression of EXPRESSIONS) {
      const cost = await bestTime(50 * reading, async () => cpuTime(() => { projections.project(expression, json) }), 5)
      t.ok(cost < 100 * reading + 5, `${name} ${expression}: ${(cost / reading).toFixed(1)} times`)
    }
  }
})
