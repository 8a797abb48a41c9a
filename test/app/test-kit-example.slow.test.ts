import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { blocksOf } from '../docs/blocks.js'
import { COMPILERS, installed, runNode } from '../support/installed.js'

const FOLDER = new URL('../../../examples/test-a-tool/', import.meta.url)

const files = Object.fromEntries(readdirSync(FOLDER).map(name => [name, readFileSync(new URL(name, FOLDER), 'utf8')]))

const printed = blocksOf('docs/test-a-tool.md').filter(({ file }) => file !== undefined)

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

// Older versions do not remove types from files.
const removesTypes = major > 22 || (major === 22 && minor >= 18)

t.test('the tests of examples/test-a-tool pass where the package is installed', async t => {
  const folder = await installed(t, files, ['@types/node', 'tap'])
  const { code, output } = await runNode(folder, ['--test', 'hello.node.test.mjs'])
  t.equal(code, 0, code === 0 ? 'node:test' : output)
  t.match(output, /pass 5\n/)
  const tap = await runNode(folder, ['hello.tap.mjs'])
  t.equal(tap.code, 0, tap.code === 0 ? 'tap' : tap.output)
  t.match(tap.output, /ok 3 - fails when the user declines/)
  if (removesTypes) {
    const typed = await runNode(folder, ['--test', 'hello.typed.test.ts'])
    t.equal(typed.code, 0, typed.code === 0 ? 'TypeScript' : typed.output)
  }
})

t.test('node --test in a copy of examples/test-a-tool needs no other test runner', async t => {
  const folder = await installed(t, files, [])
  const { code, output } = await runNode(folder, ['--test'])
  t.equal(code, 0, code === 0 ? 'node:test' : output)
  t.match(output, /fail 0\n/)
})

t.test('its types are right, and its tests fail when the tool is wrong', async t => {
  const folder = await installed(t, { ...files, 'hello.ts': files['hello.ts']?.replace('Hello, ', 'Bye, ') ?? '' }, [
    '@types/node',
    'tap'
  ])
  t.strictSame(await runNode(folder, [COMPILERS['TypeScript 7'], '-p', '.']), { code: 0, output: '' })
  const { code, output } = await runNode(folder, ['--test', 'hello.node.test.mjs'])
  t.equal(code, 1)
  t.match(output, /Bye, Ada!/)
})

t.test('docs/test-a-tool.md prints what is in the example', async t => {
  t.strictSame(
    printed.map(({ file }) => file),
    ['tsconfig.json', 'hello.ts', 'hello.node.test.mjs', 'hello.typed.test.ts']
  )
  for (const { file = '', code, line } of printed) {
    const lines = new Set(files[file]?.split('\n'))
    t.strictSame(code.split('\n').filter(each => !lines.has(each)), [], `line ${line}`)
  }
  t.equal(printed.find(({ file }) => file === 'hello.ts')?.code, files['hello.ts'])
})

t.test('the files that docs/test-a-tool.md prints pass as printed, in a folder that npm init made', async t => {
  const stored = Object.fromEntries(printed.map(({ file = '', code }) => [file, code]))
  const folder = await installed(t, { ...stored, 'package.json': '{"name":"hello","type":"commonjs"}' }, [
    '@types/node'
  ])
  const { code, output } = await runNode(folder, ['--test', 'hello.node.test.mjs'])
  t.equal(code, 0, code === 0 ? 'node:test' : output)
  t.match(output, /pass 1\n/)
  await writeFile(join(folder, 'package.json'), '{"name":"hello","type":"module"}')
  t.strictSame(await runNode(folder, [COMPILERS['TypeScript 5.9'], '-p', '.']), { code: 0, output: '' })
  if (!removesTypes) return
  const typed = await runNode(folder, ['--test', 'hello.typed.test.ts'])
  t.equal(typed.code, 0, typed.code === 0 ? 'TypeScript' : typed.output)
})
