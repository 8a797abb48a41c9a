import t from 'tap'
import { didYouMean, nearestName } from '../../lib/nearest-name.js'

const KNOWN = ['execute_command', 'web_search', 'notes', 'notes:read', 'mcp', 'x']

t.test('a name with a slip in it is taken for the one that was meant', async t => {
  for (const [name, meant] of [
    ['exceute_command', 'execute_command'],
    ['execute-command', 'execute_command'],
    ['Web_Search', 'web_search'],
    ['web_serach', 'web_search'],
    ['websearch', 'web_search'],
    ['nots', 'notes'],
    ['note', 'notes'],
    ['notes:raed', 'notes:read'],
    ['mpc', 'mcp']
  ] as const) {
    t.equal(nearestName(name, KNOWN), meant, name)
  }
})

t.test('a name that is like none is not taken for one', async t => {
  for (const name of ['', 'q', 'calculate', 'admin', 'execute', 'a'.repeat(100)]) {
    t.equal(nearestName(name, KNOWN.slice(0, 5)), undefined, name)
  }
  t.equal(nearestName('notes', []), undefined)
})

t.test('the suggestion is the end of a sentence, or nothing', async t => {
  t.equal(didYouMean('nots', KNOWN), '; did you mean "notes"?')
  t.equal(didYouMean('calculate', KNOWN), '')
})

t.test('slips are counted as a whole table of distances counts them', async t => {
  const random = (letters: string, length: number): string =>
    Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
  const wrong: string[] = []
  for (let count = 0; count < 5_000; count++) {
    const name = random('abc', 3 + Math.floor(Math.random() * 20))
    const other = count % 2 === 0 ? random('abc', 3 + Math.floor(Math.random() * 20)) : slipped(name)
    const allowed = Math.min(6, Math.max(1, Math.floor(name.length / 3)))
    if ((nearestName(name, [other]) !== undefined) !== (slips(name, other) <= allowed)) wrong.push(`${name} ${other}`)
  }
  t.strictSame(wrong, [])
})

function slipped (name: string): string {
  const letters = [...name]
  for (let count = 0; count < 4; count++) {
    const at = Math.floor(Math.random() * letters.length)
    const change = Math.floor(Math.random() * 4)
    if (change === 0) letters.splice(at, 1)
    else if (change === 1) letters.splice(at, 0, 'b')
    else if (change === 2) letters[at] = 'c'
    else letters.splice(at, 2, letters[at + 1] ?? 'a', letters[at] ?? 'a')
  }
  return letters.join('')
}

function slips (one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, (_, i) =>
    Array.from({ length: other.length + 1 }, (_, j) => (i === 0 ? j : i))
  )
  const cell = (i: number, j: number): number => table[i]?.[j] ?? Infinity
  for (let i = 1; i <= one.length; i++) {
    for (let j = 1; j <= other.length; j++) {
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? cell(i - 2, j - 2) + 1 : Infinity
      const row = table[i] as number[]
      row[j] = Math.min(
        cell(i - 1, j) + 1,
        cell(i, j - 1) + 1,
        cell(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1),
        swapped
      )
    }
  }
  return cell(one.length, other.length)
}
