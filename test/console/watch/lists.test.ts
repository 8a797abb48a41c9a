import t from 'tap'
import { callsShown, nextOrder, sortTools, type CallFilter } from '../../../console/watch/rows.js'
import type { CallRow } from '../../../console/watch/feed.js'

const all: CallFilter = { text: '', outcome: '', hideOwn: false }
const row = (number: number, more: Partial<CallRow> = {}): CallRow => ({
  number,
  at: 0,
  ms: 1,
  method: 'tools/call',
  tool: 'echo',
  outcome: 'ok',
  transport: 'http',
  revision: 'any',
  ...more
})
const calls = [
  row(1),
  row(2, { tool: 'Git_Log', upstream: 'git', principal: 'ada' }),
  row(3, { outcome: 'error', code: -32602 }),
  row(4, { own: true })
]
const numbers = (filter: Partial<CallFilter>): number[] =>
  callsShown(calls, { ...all, ...filter }).rows.map(({ number }) => number)

t.test('calls are shown newest first', async t => {
  t.strictSame(numbers({}), [4, 3, 2, 1])
})

t.test('each word of a filter is looked for in all names, in small and capital letters', async t => {
  t.strictSame(numbers({ text: 'git_log' }), [2])
  t.strictSame(numbers({ text: ' ADA  call ' }), [2])
  t.strictSame(numbers({ text: '-32602' }), [3])
  t.strictSame(numbers({ text: 'ada echo' }), [])
})

t.test('calls are filtered by outcome, and those of this page can be hidden', async t => {
  t.strictSame(numbers({ outcome: 'error' }), [3])
  t.strictSame(numbers({ hideOwn: true }), [3, 2, 1])
})

t.test('a list that is read stays as it was, and counts what is new and fits', async t => {
  const read = calls.slice(0, 2)
  t.strictSame(callsShown(calls, { ...all, hideOwn: true }, read), { rows: [calls[1], calls[0]], newer: 1 })
  t.strictSame(callsShown(calls, all, []), { rows: [], newer: 4 })
  t.strictSame(
    callsShown([row(8), row(9)], all, read),
    { rows: [calls[1], calls[0]], newer: 2 },
    'also when its calls are not kept any more'
  )
})

const tools = [
  ['b', 5, 2],
  ['a', 5, 0],
  ['c', 9, 1]
].map(([name, calls, errors]) => ({
  name: String(name),
  calls: Number(calls),
  errors: Number(errors),
  p50: 1,
  p95: 2,
  p99: 3
}))
const names = (...order: Parameters<typeof nextOrder>[0][]) =>
  order.map(by =>
    sortTools(tools, by)
      .map(({ name }) => name)
      .join('')
  )

t.test('tools are sorted by any column, equal ones by name', async t => {
  t.strictSame(
    names(
      { column: 'calls', descending: true },
      { column: 'calls', descending: false },
      { column: 'name', descending: true },
      { column: 'errors', descending: true },
      { column: 'p99', descending: true }
    ),
    ['cab', 'abc', 'cba', 'bca', 'abc']
  )
})

t.test('a heading sorts the greatest first, names from a, and then the other way round', async t => {
  const byCalls = nextOrder({ column: 'name', descending: false }, 'calls')
  t.strictSame(byCalls, { column: 'calls', descending: true })
  t.strictSame(nextOrder(byCalls, 'calls'), { column: 'calls', descending: false })
  t.strictSame(nextOrder(byCalls, 'name'), { column: 'name', descending: false })
})
