import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { quoteName, quoteText } from '../../lib/json-text.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('every text is quoted as JSON that has the same text', async t => {
  const wrong: number[] = []
  for (let unit = 0; unit <= 0xffff; unit++) {
    const text = `a${String.fromCharCode(unit)}b`
    for (const quote of [quoteText, quoteName]) if (JSON.parse(quote(text)) !== text) wrong.push(unit)
  }
  t.strictSame(wrong, [])
})

t.test('a name is quoted alike whether it is known or not', async t => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 1_200; index++) t.equal(quoteName(`name "${index}"`), `"name \\"${index}\\""`)
  }
})

t.test('however many names there are, and however long, little of them stays in memory', async t => {
  for (const [count, length] of [[100_000, 240], [1_000, 50_000]] as const) {
    collect()
    const before = getHeapStatistics().used_heap_size
    for (let index = 0; index < count; index++) quoteName(`${index} `.padEnd(length, 'x'))
    collect()
    const kept = getHeapStatistics().used_heap_size - before
    t.ok(kept < 5_000_000, `${kept} bytes of ${count} names of ${length} characters`)
  }
})
