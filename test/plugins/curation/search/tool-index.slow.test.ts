import t from 'tap'
import { multiply, readLabelled } from '../../../../bench/measure/ranking.js'
import { longestTurn } from '../../../../bench/measure/turns.js'
import { rank } from '../../../../plugins/curation/search/ranker.js'
import { ToolIndex } from '../../../../plugins/curation/search/tool-index.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

const all = (): boolean => true
const tool = (name: string, description: string, more = {}): { name: string, listed: Record<string, unknown> } =>
  ({ name, listed: { name, description, ...more } })

t.test('tools come, change and go, and nothing is left of those that went', async t => {
  const index = new ToolIndex()
  index.change([], [tool('a', 'red'), tool('b', 'green')])
  await index.settled()
  index.change(['b', 'unknown'], [tool('a', 'blue'), tool('c', 'green')])
  await index.settled()
  t.strictSame(rank(index, 'red', 5, all), [])
  t.strictSame(rank(index, 'blue', 5, all), ['a'])
  t.strictSame(rank(index, 'green', 5, all), ['c'])
  t.strictSame(rank(index, 'b', 5, all), [])
  index.change(['a', 'c'], [])
  await index.settled()
  t.equal(index.count, 0)
  t.equal(index.postings.size, 0)
  t.equal(index.totalLength, 0)
})

t.test('a tool that was removed and added again before it was indexed is there', async t => {
  const index = new ToolIndex()
  index.change([], [tool('a', 'red')])
  index.change(['a'], [])
  index.change([], [tool('a', 'blue')])
  await index.settled()
  t.strictSame(rank(index, 'blue', 5, all), ['a'])
  t.strictSame(rank(index, 'red', 5, all), [])
  t.equal(index.count, 1)
})

t.test('a tool that stayed the same is not indexed again', async t => {
  const index = new ToolIndex()
  let reads = 0
  const listed = { get description () { reads++; return 'red' } }
  index.change([], [{ name: 'a', listed }])
  await index.settled()
  const before = reads
  index.change([], [{ name: 'a', listed }, tool('b', 'red')])
  await index.settled()
  t.equal(reads, before)
  t.strictSame(rank(index, 'red', 5, all), ['a', 'b'])
})

t.test('waiting for the index ends though changes go on', async t => {
  const index = new ToolIndex()
  let [round, isOver] = [0, false]
  const change = (): void => {
    if (isOver) return
    index.change([], Array.from({ length: 200 }, (_, at) => tool(`a${at}`, `word ${round}`)))
    round++
    setImmediate(change)
  }
  change()
  await index.settled()
  isOver = true
  t.ok(rank(index, 'word', 5, all).length > 0)
  await index.settled()
  t.equal(index.count, 200)
})

t.test('slots of tools that went are used again', async t => {
  const index = new ToolIndex()
  for (let round = 0; round < 20; round++) {
    index.change(round === 0 ? [] : [`tool_${round - 1}`], [tool(`tool_${round}`, 'red')])
    await index.settled()
  }
  t.ok(index.names.length <= 2, String(index.names.length))
})

t.test('a tool that only the user interface of an app may call is not found', async t => {
  const index = new ToolIndex()
  const visible = (name: string, visibility: unknown): { name: string, listed: Record<string, unknown> } => tool(name, 'red', { _meta: { ui: { visibility } } })
  index.change([], [visible('app', ['app']), visible('both', ['model', 'app']), visible('none', undefined), visible('odd', 'app')])
  await index.settled()
  t.strictSame(rank(index, 'red', 5, all), ['both', 'none', 'odd'])
  t.strictSame(rank(index, 'app', 5, all), [])
})

t.test('of a large definition only a part is indexed', async t => {
  const index = new ToolIndex()
  const words = (count: number): string => Array.from({ length: count }, (_, at) => `w${at.toString(36)}`).join(' ')
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`argument${at}`, { description: words(1_000) }]))
  index.change([], [tool('a', words(500_000), { inputSchema: { properties } })])
  await index.settled()
  t.ok(index.postings.size < 5_000, String(index.postings.size))
})

t.test('odd definitions are indexed as far as they can be', async t => {
  const index = new ToolIndex()
  index.change([], [
    { name: 'a', listed: {} },
    { name: 'b', listed: { description: 7, title: {}, annotations: [], inputSchema: 'none', _meta: null } },
    { name: 'c', listed: { inputSchema: { properties: { x: null, y: true, z: { description: 5 } } } } }
  ])
  await index.settled()
  t.equal(index.count, 3)
  t.strictSame(rank(index, 'z', 5, all), ['c'])
})

t.test('no turn of the event loop is long while 5,000 tools are indexed and removed', async t => {
  const tools = multiply(readLabelled().tools, 5_000)
  const longest = await bestTime(20, async () => {
    const index = new ToolIndex()
    return await longestTurn(async () => {
      index.change([], tools)
      await index.settled()
      index.change(tools.map(({ name }) => name), [])
      await index.settled()
    })
  })
  t.ok(longest < 20, `${longest} ms`)
})

t.test('10,000 tools are indexed in many turns of the event loop, and a query asks about few of them', async t => {
  const { tools, queries: { person, agent } } = readLabelled()
  const index = new ToolIndex()
  let [turns, isOver] = [0, false]
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  index.change([], multiply(tools, 10_000))
  await index.settled()
  isOver = true
  // A turn ends after 1 ms, and all of this takes some hundred.
  t.ok(turns > 30, `${turns} turns`)
  let most = 0
  for (const { query } of [...person, ...agent]) {
    let asked = 0
    const hits = rank(index, query, 8, () => { asked++; return true })
    t.ok(hits.length <= 8)
    most = Math.max(most, asked)
  }
  t.ok(most < 1_000, `${most} of 10,000 are asked about`)
  const words = 'create list search file issue '.repeat(66)
  t.ok(index.termsOf(words).length <= 330)
  t.strictSame(rank(index, words, 8, all).length, 8, 'each word counts once')
  t.throws(() => rank(index, words.padEnd(2_001), 8, all), /2001 characters, and 2000 are allowed/)
})

t.test('a query of 5,000 tools takes less than a millisecond', async t => {
  const { tools, queries: { person, agent } } = readLabelled()
  const queries = [...person, ...agent]
  const index = new ToolIndex()
  index.change([], multiply(tools, 5_000))
  await index.settled()
  const ask = (): void => { for (const { query } of queries) rank(index, query, 8, all) }
  const best = await bestTime(queries.length, async () => cpuTime(ask))
  t.ok(best < queries.length, `${best / queries.length} ms`)
})
