import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { exporter, home } from './home.js'

const CONFIG = { '.config/patchbay/patchbay.json': '{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}' }

t.test('two files with one result of the export keep a backup each, and undo takes the newest', async t => {
  const at = await home(t, { ...CONFIG, '.cursor/mcp.json': '{"mcpServers":{"a":{"command":"a"}}}' })
  const { export: run, undo } = exporter(at)
  await run('cursor')
  const exported = at.text('.cursor/mcp.json')
  const second = '{"mcpServers":{"b":{"command":"b"}}}'
  writeFileSync(at.path('.cursor/mcp.json'), second)
  t.match(await run('cursor'), /As it was: .*mcp\.json\.patchbay-[0-9a-f]{16}\.2\n/)
  t.equal(at.text('.cursor/mcp.json'), exported)
  await undo('cursor')
  t.equal(at.text('.cursor/mcp.json'), second)
  const [left = '', ...more] = readdirSync(at.path('.cursor')).filter(name => name !== 'mcp.json')
  t.strictSame(more, [])
  t.equal(at.text(`.cursor/${left}`), '{"mcpServers":{"a":{"command":"a"}}}', 'the first original is there')
})

t.test('undo restores a file of the user where an earlier export had made one', async t => {
  const at = await home(t, CONFIG)
  const { export: run, undo } = exporter(at)
  await run('cursor')
  rmSync(at.path('.cursor/mcp.json'))
  // The export gives this the form of the file that it had made.
  const own = '{\n  "mcpServers": {}\n}\n'
  writeFileSync(at.path('.cursor/mcp.json'), own)
  await run('cursor')
  t.match(await undo('cursor'), 'byte for byte')
  t.equal(at.text('.cursor/mcp.json'), own)
  t.strictSame(readdirSync(at.path('.cursor')), ['mcp.json'])
})
