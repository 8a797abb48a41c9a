import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { blocksOf } from '../docs/blocks.js'
import { COMPILERS, installed, runNode } from '../support/installed.js'

const FOLDER = new URL('../../../examples/test-a-tool/', import.meta.url)

const files = Object.fromEntries(readdirSync(FOLDER).map(name => [name, readFileSync(new URL(name, FOLDER), 'utf8')]))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

t.test('the tests of examples/test-a-tool pass where the package is installed', async t => {
  const folder = await installed(t, files, ['@types/node', 'tap'])
  const { code, output } = await runNode(folder, ['--test', 'hello.node.test.js'])
  t.equal(code, 0, code === 0 ? 'node:test' : output)
  t.match(output, /pass 5\n/)
  const tap = await runNode(folder, ['hello.tap.test.js'])
  t.equal(tap.code, 0, tap.code === 0 ? 'tap' : tap.output)
  t.match(tap.output, /ok 3 - fails when the user declines/)
  // Older versions do not remove types from files.
  if (major > 22 || (major === 22 && minor >= 18)) {
    const typed = await runNode(folder, ['--test', 'hello.typed.test.ts'])
    t.equal(typed.code, 0, typed.code === 0 ? 'TypeScript' : typed.output)
  }
})

t.test('its types are right, and its tests fail when the tool is wrong', async t => {
  const folder = await installed(t, { ...files, 'hello.ts': files['hello.ts']?.replace('Hello, ', 'Bye, ') ?? '' }, ['@types/node', 'tap'])
  t.strictSame(await runNode(folder, [COMPILERS['TypeScript 7'], '-p', '.']), { code: 0, output: '' })
  const { code, output } = await runNode(folder, ['--test', 'hello.node.test.js'])
  t.equal(code, 1)
  t.match(output, /Bye, Ada!/)
})

t.test('docs/test-a-tool.md prints what is in the example', async t => {
  const lines = new Set(Object.values(files).flatMap(source => source.split('\n')))
  const printed = blocksOf('docs/test-a-tool.md').filter(({ language, notRun }) => ['js', 'json'].includes(language) || (language === 'ts' && notRun !== undefined))
  t.equal(printed.length, 3)
  for (const { code, line } of printed) t.strictSame(code.split('\n').filter(each => !lines.has(each)), [], `line ${line}`)
})
