import t from 'tap'
import { MAX_HITS, MAX_QUERY, rank } from '../../../../plugins/curation/search/ranker.js'
import { ToolIndex } from '../../../../plugins/curation/search/tool-index.js'
import { ToolError } from '../../../../protocol/wire/mcp-error.js'
import { qualityOf, readLabelled, type Group } from '../../../../bench/measure/ranking.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

const all = (): boolean => true
const named = (name: string, description = ''): { name: string, listed: Record<string, unknown> } => ({ name, listed: { name, description } })

async function indexOf (...tools: Array<{ name: string, listed: Record<string, unknown> }>): Promise<ToolIndex> {
  const index = new ToolIndex()
  index.change([], tools)
  await index.settled()
  return index
}

t.test('words of a query find the parts of names, whatever their case and ending', async t => {
  const index = await indexOf(named('files__read_text_file'), named('web__takeScreenshot'), named('chat__list-users'), named('HTTPServerStart'))
  t.strictSame(rank(index, 'reading texts', 5, all), ['files__read_text_file'])
  t.strictSame(rank(index, 'SCREENSHOTS', 5, all), ['web__takeScreenshot'])
  t.strictSame(rank(index, 'user listing', 5, all), ['chat__list-users'])
  t.strictSame(rank(index, 'start a server', 5, all), ['HTTPServerStart'])
  t.strictSame(rank(index, 'nothing of this', 5, all), [])
  t.strictSame(rank(index, '', 5, all), [])
})

t.test('server, title, description and arguments of a tool are found', async t => {
  const index = await indexOf({
    name: 'github__create_issue',
    listed: { title: 'File a bug', description: 'Opens a ticket.', inputSchema: { properties: { assignee: { description: 'The login of a colleague' }, dueDate: true } } }
  }, named('other'))
  for (const query of ['github', 'bugs', 'tickets', 'assignees', 'colleagues', 'due']) {
    t.strictSame(rank(index, query, 5, all), ['github__create_issue'], query)
  }
})

t.test('a tool with the word in its name comes before one that only describes it', async t => {
  const index = await indexOf(named('a', 'Branches off. It has as many words as the other one.'), named('z__branch', 'It has as many words as the other one, too.'))
  t.strictSame(rank(index, 'branch', 5, all), ['z__branch', 'a'])
})

t.test('a tool whose name is asked for comes first, whatever the scores', async t => {
  const better = Array.from({ length: 20 }, (_, at) => named(`s${at}__status_status`, 'status status of git'))
  const index = await indexOf(...better, named('git__git_status', 'Very long. '.repeat(300)), named('status', 'Other words. '.repeat(300)), named('zz__status'))
  t.equal(rank(index, 'git__git_status', 3, all)[0], 'git__git_status')
  t.equal(rank(index, ' "GIT__GIT_STATUS" ', 3, all)[0], 'git__git_status')
  t.equal(rank(index, 'git_status', 3, all)[0], 'git__git_status')
  t.equal(rank(index, 'the status by git_status, please', 3, all)[0], 'git__git_status')
  t.strictSame(rank(index, 'status', 2, all), ['status', 'zz__status'], 'its own name before that behind a prefix')
})

t.test('the name that a view lists a tool under is found, too', async t => {
  const index = await indexOf(named('bug_tracker'), { name: 'github__create_issue', listed: { name: 'file_bug', description: 'Opens a ticket.' } })
  t.equal(rank(index, 'file_bug', 1, all)[0], 'github__create_issue')
  t.equal(rank(index, 'github__create_issue', 1, all)[0], 'github__create_issue')
  t.strictSame(rank(index, 'filing', 5, all), ['github__create_issue'])
})

t.test('tools that the caller may not see are left out before the limit is reached', async t => {
  const tools = Array.from({ length: 50 }, (_, at) => named(`tool_${at}`, 'same words'))
  const index = await indexOf(...tools)
  const isEven = (name: string): boolean => Number(name.slice(5)) % 2 === 0
  t.equal(rank(index, 'words', 20, isEven).length, 20)
  t.ok(rank(index, 'words', 20, isEven).every(isEven))
  t.notOk(rank(index, 'tool_7', 20, isEven).includes('tool_7'), 'not even by its name')
  t.strictSame(rank(index, 'words', 20, () => false), [])
})

t.test('a limit is kept, and there is one for all', async t => {
  const index = await indexOf(...Array.from({ length: 300 }, (_, at) => named(`a${at}__same`, 'same words')))
  t.equal(rank(index, 'same', 3, all).length, 3)
  t.equal(rank(index, 'same words', Infinity, all).length, MAX_HITS)
  t.strictSame(rank(index, 'words', 0, all), [])
  t.strictSame(rank(index, 'words', NaN, all), [])
})

t.test('equal scores are ordered by name, and the way to a list does not change its ranking', async t => {
  const tools = readLabelled().tools
  const [forwards, backwards, changed] = [await indexOf(...tools), await indexOf(...[...tools].reverse()), await indexOf(...tools.map(({ name }) => named(name, 'before')))]
  changed.change(tools.slice(0, 150).map(({ name }) => name), [named('gone__soon')])
  await changed.settled()
  changed.change(['gone__soon'], tools)
  await changed.settled()
  for (const { query } of readLabelled().queries.person) {
    const expected = rank(forwards, query, 20, all)
    t.strictSame(rank(backwards, query, 20, all), expected)
    t.strictSame(rank(changed, query, 20, all), expected)
  }
  t.strictSame(rank(await indexOf(named('b', 'word'), named('c', 'word'), named('a', 'word')), 'word', 2, all), ['a', 'b'])
})

t.test('a query that is too long is refused with its length', async t => {
  const index = await indexOf(named('a'))
  t.throws(() => rank(index, 'a '.repeat(512 * 1024), 5, all), new ToolError('the query has 1048576 characters, and 2000 are allowed: say in a few words what the tool should do'))
  t.strictSame(rank(index, 'a'.padEnd(MAX_QUERY), 5, all), ['a'])
})

t.test('a caller whose check throws leaves nothing to the next query', async t => {
  const index = await indexOf(named('a', 'one two'), named('b', 'two'))
  t.throws(() => rank(index, 'one two', 5, () => { throw new Error('no') }), /no/)
  t.strictSame(rank(index, 'two', 5, all), ['b', 'a'])
})

t.test('hostile queries and names take no longer than others', async t => {
  const index = await indexOf(named('__'), named('__proto__', 'constructor'), named('toString'), named('a', 'x'.repeat(100_000)), named('b', '\ud800 \u0000'))
  for (const query of ['-'.repeat(MAX_QUERY), '"'.repeat(MAX_QUERY), 'aA'.repeat(MAX_QUERY / 2), 'a.'.repeat(MAX_QUERY / 2), '文'.repeat(MAX_QUERY), '\ud800', '\u0000']) {
    t.ok(Array.isArray(rank(index, query, 5, all)))
  }
  t.strictSame(rank(index, '__proto__', 1, all), ['__proto__'])
  t.strictSame(rank(index, 'constructor', 5, all), ['__proto__'])
  t.strictSame(rank(index, 'hasOwnProperty', 5, all), [])
})

t.test('texts of other languages are searched, too', async t => {
  const index = await indexOf(named('weather', '查询城市天气预报'), named('map', '生成地图 GitHub'), named('wetter', 'Zeigt die Größe von Städten'), named('sql', 'Ищет документы'))
  t.strictSame(rank(index, '天气', 5, all), ['weather'])
  t.strictSame(rank(index, '地图github', 5, all), ['map'])
  t.strictSame(rank(index, 'GRÖSSE städten', 5, all), ['wetter'])
  t.strictSame(rank(index, 'документы', 5, all), ['sql'])
})

// Bars below the measured figures (bench/README.md): they notice a ranker that got worse, and claim nothing.
for (const [group, recall] of [['person', 0.35], ['agent', 0.88]] satisfies Array<[Group, number]>) {
  t.test(`of the labelled queries of ${group === 'agent' ? 'an agent' : 'a person'}, no fewer are answered than before`, async t => {
    const { tools, queries: { [group]: queries } } = readLabelled()
    const index = await indexOf(...tools)
    const { recall5 } = qualityOf(queries, (query, limit) => rank(index, query, limit, all))
    t.ok(recall5 >= recall, `recall@5 is ${recall5}`)
    t.ok(queries.length >= 60 && queries.every(({ labels }) => Object.keys(labels).every(name => tools.some(tool => tool.name === name))), 'every label is a tool')
  })
}

t.test('a name that is said again and again costs once', async t => {
  const names = Array.from({ length: 4_000 }, (_, at) =>
    [...'tool_of_many_cases'].map((letter, bit) => (at >> bit) % 2 === 0 ? letter : letter.toUpperCase()).join(''))
  const index = await indexOf(...[...new Set(names)].map(name => named(name)))
  const cost = async (query: string): Promise<number> =>
    await bestTime(1, async () => cpuTime(() => { rank(index, query, 5, all) }), 5)
  const [once, often] = [await cost('tool_of_many_cases x'), await cost('tool_of_many_cases '.repeat(100))]
  t.ok(often < once * 5 + 5, `${often} ms, and ${once} ms once`)
})
