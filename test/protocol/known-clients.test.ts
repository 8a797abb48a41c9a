import t from 'tap'
import { CLIENTS } from '../../cli/report/client-snippets.js'
import { CLIENT_LIMITS, clientRemarks, clientWait } from '../../protocol/known-clients.js'

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `tool_${index}`)

const clientsOf = (names: string[]): string[] => clientRemarks(names).map(({ client }) => client)

t.test('the limits are of clients that patchbay clients knows, each with its source', async t => {
  for (const [name, { title, tools, names }] of Object.entries(CLIENT_LIMITS)) {
    t.equal(CLIENTS[name]?.title, title)
    t.ok(tools ?? names, `${name} has a limit`)
    for (const reported of [tools, names]) if (reported !== undefined) t.match(reported.source, /^https:\/\//)
  }
})

t.test('a client is named from the first tool on that is too many', async t => {
  t.strictSame(clientsOf([]), [])
  t.strictSame(clientsOf(many(80)), [])
  t.strictSame(clientsOf(many(81)), ['cursor'])
  t.strictSame(clientsOf(many(100)), ['cursor'])
  t.strictSame(clientsOf(many(101)), ['cursor', 'windsurf'])
  t.strictSame(clientsOf(many(128)), ['cursor', 'windsurf'])
  t.strictSame(clientsOf(many(129)), ['cursor', 'vscode', 'windsurf'])
  const text = 'Cursor takes 80 tools of all servers together; above that it warns, and may not offer the others'
  t.match(clientRemarks(many(81)), [{ text }])
})

t.test('names are counted with what the client puts before them', async t => {
  t.strictSame(clientsOf(['a'.repeat(49)]), [], 'every client takes a name of 49 characters')
  t.strictSame(clientsOf(['a'.repeat(50)]), ['claude-code'], 'mcp__patchbay__ and 50 are 65')
  t.strictSame(clientsOf(['a'.repeat(51)]), ['claude-code', 'gemini'], 'mcp_patchbay_ and 51 are 64')
  t.strictSame(clientsOf(['a'.repeat(52)]), ['claude-code', 'cursor', 'vscode', 'gemini'], 'patchbay and 52 are 60')
  t.strictSame(clientsOf(['a'.repeat(64)]), ['claude-code', 'cursor', 'vscode', 'gemini'])
  t.strictSame(clientsOf(['a'.repeat(65)]), ['claude-desktop', 'claude-code', 'cursor', 'vscode', 'gemini'])
})

t.test('three of the names are listed, and the number of the others', async t => {
  const long = ['d', 'c', 'b', 'a', 'e'].map(letter => letter.repeat(60))
  const { names, text } = clientRemarks(['short', ...long]).find(({ client }) => client === 'cursor') ?? {}
  t.strictSame(names, long.toSorted())
  const shown = ['a', 'b', 'c'].map(letter => letter.repeat(60)).join(', ')
  t.equal(text, `Cursor leaves out names of more than 51 characters: ${shown} and 2 more`)
})

t.test('a client waits as long as it is known to, and any other as long as those of the official SDKs', async t => {
  t.equal(clientWait({ name: 'claude-ai' }), 55_000)
  t.equal(clientWait({ name: 'gemini-cli-mcp-client-files' }), 550_000)
  t.equal(clientWait({ name: 'Visual Studio Code' }), Infinity)
  for (const client of [undefined, null, 'claude-ai', {}, { name: 3 }, { name: 'constructor' }, { name: '' }]) {
    t.equal(clientWait(client), 55_000)
  }
})
