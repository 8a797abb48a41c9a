import t from 'tap'
import { ago, duration, span } from '../../../console/parts/words.js'

const table = (name: string, words: (ms: number) => string, rows: Array<[number, string]>): void => {
  t.test(name, async t => {
    for (const [ms, expected] of rows) t.equal(words(ms), expected, String(ms))
  })
}

table('how long something took has three digits at most', duration, [
  [0, '0 ms'],
  [0.04, '0 ms'],
  [0.44, '0.4 ms'],
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [12.3, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1 s'],
  [1254, '1.25 s'],
  [12_340, '12.3 s'],
  [59_940, '59.9 s'],
  [59_960, '59 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s']
])

table('how old something is has two units at most', span, [
  [-5, '0 s'],
  [999, '0 s'],
  [1000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [125_500, '2 min 5 s'],
  [3_600_000, '1 h'],
  [15_000_000, '4 h 10 min'],
  [86_400_000 * 3 + 7_300_000, '3 d 2 h']
])

table('what has just happened is not 0 s ago', ago, [
  [-20, 'just now'],
  [999, 'just now'],
  [1000, '1 s ago'],
  [90_000, '1 min 30 s ago']
])
