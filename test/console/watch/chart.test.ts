import t from 'tap'
import {
  extremes,
  linearAxis,
  linePath,
  logAxis,
  markWords,
  ticks,
  timeMarks
} from '../../../console/watch/chart-shape.js'
import { currentRate, fill, timeWindow } from '../../../console/watch/time-window.js'

const second = (at: number, calls = 1) => ({ at, calls, errors: 0, p50: 1, p95: 1, p99: 1 })
const box = { width: 100, height: 50 }

t.test('the marks of an axis are round numbers up to the greatest value', async t => {
  t.strictSame(ticks(0), [0, 0.5])
  t.strictSame(ticks(1), [0, 0.5, 1])
  t.strictSame(ticks(7), [0, 2, 4, 6, 8])
  t.strictSame(ticks(10_000), [0, 5_000, 10_000])
  t.strictSame(ticks(0.3), [0, 0.1, 0.2, 0.3])
})

t.test('the marks of a logarithmic axis are powers of ten around the values', async t => {
  t.strictSame(logAxis(3, 640).marks, [1, 10, 100, 1000])
  t.strictSame(logAxis(0, 0).marks, [0.1, 1])
  const { heightOf } = logAxis(1, 100)
  t.strictSame([0, 1, 10, 100, 1e6].map(heightOf), [0, 0, 0.5, 1, 1])
})

t.test('a line goes from the left to the right edge, with the greatest value at the top', async t => {
  t.equal(linePath([0, 10, 5], linearAxis(10).heightOf, box), 'M0 50L50 0L100 25')
})

t.test('a line has gaps where nothing is known, and a single value is a dot', async t => {
  t.equal(linePath([undefined, 10, undefined, 0, 0], linearAxis(10).heightOf, box), 'M25 0h0M75 50L100 50')
  t.equal(linePath([undefined], linearAxis(0).heightOf, box), '')
})

t.test('the extremes of lines without values are zeros', async t => {
  t.strictSame(extremes([[undefined], []]), { min: 0, max: 0 })
  t.strictSame(extremes([[3, undefined], [8, 1]]), { min: 1, max: 8 })
})

t.test('the axis of time counts back from now', async t => {
  t.strictSame(timeMarks(60).map(markWords), ['1 min', '30 s', 'now'])
  t.strictSame(timeMarks(180).map(markWords), ['3 min', '2 min', '1 min', 'now'])
})

t.test('a chart starts at one minute and widens by whole minutes up to five', async t => {
  const lengthOf = (known: number): number =>
    timeWindow(
      Array.from({ length: known }, (_, index) => second(1e6 + index * 1000)),
      0
    ).length
  t.strictSame([0, 1, 60, 61, 299, 300].map(lengthOf), [60, 60, 60, 120, 300, 300])
  t.strictSame(timeWindow([second(1000), second(900_000)], 0), { from: 601_000, length: 300 })
})

t.test('a window ends with the last second known, or with now when nothing came for a while', async t => {
  t.equal(timeWindow([second(100_000)], 102_500).from, 101_000 - 60_000)
  t.equal(timeWindow([second(100_000)], 110_500).from, 108_000 - 60_000)
})

t.test('a second that was not sent had no calls, and one before all others is not known', async t => {
  const filled = fill([second(2000), second(4000)], { from: 1000, length: 5 })
  t.strictSame(filled.map(entry => entry?.calls), [undefined, 1, 0, 1, 0])
  t.strictSame(filled.map(entry => entry?.at), [undefined, 2000, 3000, 4000, 5000])
})

t.test('the rate of now is the mean of the last five seconds', async t => {
  t.equal(currentRate([second(0, 900), ...[1, 2, 3, 4, 5].map(calls => second(0, calls))]), 3)
  t.equal(currentRate([undefined, second(0, 4)]), 4)
  t.equal(currentRate([]), 0)
})
