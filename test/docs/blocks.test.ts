import t from 'tap'
import { blocksOf, type Block } from './blocks.js'
import { runInTerminal } from './terminal.js'

const page = (text: string): Block[] => blocksOf('page.md', text.replaceAll("'''", '```'))
const sh = (code: string): Block => ({ page: 'page.md', line: 1, language: 'sh', code })

const FIRST = `cat > tools/a.ts <<'TS'
import { McpError, prompt, resource, tool, ToolError, Type } from 'mcp-patchbay'

export class Own extends ToolError {}
export class Other extends McpError {}

export default [
  tool({ name: 'first', description: 'First.', input: Type.Object({ name: Type.String() }), run: ({ name }) => \`Hello, \${name}!\` }),
  resource({ uri: 'first:///{id}', name: 'First', read: ({ id }) => id }),
  prompt({ name: 'first', description: 'First.', get: () => 'First.' })
]
TS
npm start
`

t.test('a block is read with its marks and what it prints', async t => {
  const blocks = page(
    "text\n\n<!-- file: a.ts -->\n<!-- given: import a\nfrom 'a' -->\n'''ts\na()\n'''\n\n  '''sh\n  ls\n  '''\n\n'''\na.ts\n'''\n\n<!-- not run: needs a display -->\n'''sh\nxsel\n'''\n"
  )
  t.match(blocks, [
    { page: 'page.md', line: 7, language: 'ts', code: 'a()\n', file: 'a.ts', given: "import a\nfrom 'a'" },
    { line: 11, language: 'sh', code: 'ls\n', printed: 'a.ts\n' },
    { language: '' },
    { language: 'sh', notRun: 'needs a display' }
  ])
})

t.test('a mark without a reason, or with another name, is an error', async t => {
  for (const mark of ['not run', 'not run:', 'not run: ']) {
    t.throws(() => page(`<!-- ${mark} -->\n'''sh\nls\n'''\n`), /page\.md:3: write a text after "not run:"/)
  }
  t.throws(
    () => page("<!-- skip: why -->\n'''sh\nls\n'''\n"),
    /page\.md:3: "skip" is no mark; use one of not run, file, given/
  )
})

t.test('a block that fails ends the page, and its error is shown', async t => {
  const ran = await runInTerminal(t, [sh('echo one'), sh('ls /nowhere'), sh('echo three')], [])
  t.match(ran, [{ output: 'one\n' }, { failure: /exit code 2[^]*nowhere/ }])
  t.equal(ran.length, 2)
})

t.test('the first file of tools/ can import all that authors need from mcp-patchbay', async t => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'first', arguments: { name: 'Ada' } }
  })
  const ran = await runInTerminal(
    t,
    [sh(FIRST), sh(`curl -s http://127.0.0.1:8080/message -H 'Content-Type: application/json' -d '${body}'`)],
    []
  )
  t.match(ran[1]?.output, 'Hello, Ada!', ran[0]?.failure ?? '')
})
