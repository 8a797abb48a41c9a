import t from 'tap'
import { lineDiff } from '../../lib/line-diff.js'

t.test('a difference has the changed lines and three equal ones around them', async t => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`)
  const before = `${lines.join('\n')}\n`
  t.strictSame(lineDiff(before, before.replace('line 6\n', 'line six\n')), [
    '@@ -3,7 +3,7 @@',
    ' line 3',
    ' line 4',
    ' line 5',
    '-line 6',
    '+line six',
    ' line 7',
    ' line 8',
    ' line 9'
  ])
  t.strictSame(lineDiff(before, before), [])
})

t.test('two changes that are far apart have a part each; lines in between are found again', async t => {
  const before = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('')
  const after = before.replace('2\n', 'two\n').replace('17\n', '')
  t.strictSame(lineDiff(before, after).filter(line => !line.startsWith(' ')), [
    '@@ -1,6 +1,6 @@',
    '-2',
    '+two',
    '@@ -15,6 +15,5 @@',
    '-17'
  ])
})

t.test('a new file, an emptied one, and a line break that is missing at the end', async t => {
  t.strictSame(lineDiff('', 'a\nb\n'), ['@@ -0,0 +1,2 @@', '+a', '+b'])
  t.strictSame(lineDiff('a\n', ''), ['@@ -1,1 +0,0 @@', '-a'])
  t.strictSame(lineDiff('a', 'a\n'), ['@@ -1,1 +1,1 @@', '-a (no line break at the end)', '+a'])
})

t.test('texts with very many changed lines are not compared pair by pair', async t => {
  const of = (letter: string): string => `${letter}\n`.repeat(3_000)
  t.equal(lineDiff(of('a'), of('b')).length, 6_001)
})
