import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../support/wait.js'
import { toolSource, watchedFolder, type WatchedFolder } from '../../support/watched-folder.js'

const namesOf = async ({ client }: WatchedFolder): Promise<string[]> =>
  (await client.request('tools/list') as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)

t.test('a changed file is served without a restart, and clients are notified once', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1') }, ['a.ts'])
  t.equal(await folder.call('a'), '1')
  folder.write('a.ts', toolSource('a', '2'))
  await folder.logged(/a\.ts was loaded: a$/)
  t.equal(await folder.call('a'), '2')
  await until(() => folder.client.notifications.length > 0)
  t.strictSame(folder.client.notifications.map(({ method }) => method), ['notifications/tools/list_changed'])
})

t.test('a file that is saved by renaming is seen, the second time, too', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1') }, ['a.ts'])
  for (const value of ['2', '3', '4']) {
    folder.save('a.ts', toolSource('a', value))
    await folder.logged(/a\.ts was loaded/)
    t.equal(await folder.call('a'), value)
  }
})

t.test('of several saves in a row the last one wins', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '0') }, ['a.ts'])
  for (let value = 1; value <= 50; value++) folder.save('a.ts', toolSource(`a${value}`, String(value)))
  await folder.logged(/a\.ts was loaded: a50/)
  t.strictSame(await namesOf(folder), ['a50'])
})

t.test('a change of an imported file is served, through any number of files, and of CommonJS and JSON', async t => {
  const folder = await watchedFolder(
    t,
    {
      'a.ts': toolSource(
        'a',
        '[one, data.n, other]',
        "import { one } from './lib/one.js'\nimport data from './lib/data.json' with { type: 'json' }\nimport other from './lib/other.cjs'"
      ),
      'lib/one.ts': "export { two as one } from './two'",
      'lib/two.ts': 'export const two: string = "1"',
      'lib/data.json': '{ "n": 1 }',
      'lib/other.cjs': "module.exports = require('./deep.cjs')",
      'lib/deep.cjs': 'module.exports = 1'
    },
    ['a.ts']
  )
  t.equal(await folder.call('a'), '1,1,1')
  folder.save('lib/two.ts', 'export const two: string = "2"')
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '2,1,1')
  folder.save('lib/data.json', '{ "n": 2 }')
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '2,2,1')
  folder.save('lib/deep.cjs', 'module.exports = 2')
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '2,2,2')
  folder.save('lib/deep.cjs', '\nthrow new Error("broken here")')
  t.match(await folder.logged(/cannot be loaded/), /broken here \(\/.*\/lib\/deep\.cjs, line 2\)/)
  folder.save('lib/deep.cjs', 'module.exports = 3')
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '2,2,3')
})

t.test('a CommonJS plugin is loaded anew', async t => {
  const source = (n: number): string =>
    `const { tool } = require('mcp-patchbay')\nmodule.exports = tool({ name: 'a', description: '', run: () => '${n}' })`
  const folder = await watchedFolder(t, { 'a.cjs': source(1) }, ['a.cjs'])
  t.equal(await folder.call('a'), '1')
  folder.save('a.cjs', source(2))
  await folder.logged(/a\.cjs was loaded/)
  t.equal(await folder.call('a'), '2')
})

t.test('a file that did not change, and what imports it not, keeps its state', async t => {
  const folder = await watchedFolder(t, {
    'a.ts': toolSource('a', '++state.n', "import { state } from './state.js'"),
    'b.ts': toolSource('b', '++state.n', "import { state } from './state.js'"),
    'state.ts': 'export const state = { n: 0 }'
  }, ['a.ts', 'b.ts'])
  t.strictSame([await folder.call('a'), await folder.call('b')], ['1', '2'])
  folder.save('a.ts', toolSource('a', '"new " + ++state.n', "import { state } from './state.js'"))
  await folder.logged(/a\.ts was loaded/)
  t.strictSame([await folder.call('a'), await folder.call('b')], ['new 3', '4'])
  folder.save('state.ts', 'export const state = { n: 100 }')
  await folder.logged(/a\.ts was loaded/)
  await folder.logged(/b\.ts was loaded/)
  t.strictSame([await folder.call('a'), await folder.call('b')], ['new 101', '102'], 'both have the new one')
})

t.test('the gateway and packages stay the same', async t => {
  const source = (n: number): string =>
    toolSource(
      'a',
      `${n} + (globalThis.classes = [...new Set([...(globalThis.classes ?? []), ToolError])]).length`,
      "import { ToolError } from 'mcp-patchbay'"
    )
  const folder = await watchedFolder(t, { 'a.ts': source(0) }, ['a.ts'])
  t.equal(await folder.call('a'), '1')
  folder.save('a.ts', source(10))
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '11')
})

const BROKEN: Array<[what: string, name: string, source: string, says: RegExp]> = [
  [
    'cannot be parsed',
    'a.ts',
    '\n\nexport default tool({',
    /a\.ts cannot be loaded, so its former code stays: .*\(line 3, column \d+\)$/
  ],
  [
    'cannot be parsed, as JavaScript',
    'a.mjs',
    '\n\nexport default tool({',
    /a\.mjs cannot be loaded, so its former code stays: .*\(line 3, column \d+\)$/
  ],
  ['throws', 'a.ts', '\nthrow new Error("no database")', /stays: no database \(line 2\)$/],
  ['imports a file that throws', 'a.mjs', 'import "./_bad.mjs"', /stays: broken here \(\/.*\/_bad\.mjs, line 2\)$/],
  [
    'has a wrong definition',
    'a.ts',
    'import { tool } from "mcp-patchbay"\n\nexport default tool({ name: "a b", description: "", run: () => "" })',
    /stays: tool name "a b".*\(line 3\)$/
  ],
  [
    'has a name that is taken',
    'a.ts',
    toolSource('other', '1'),
    /stays: there is a tool "other" in .*\/other\.ts already; choose another name/
  ],
  [
    'has a name twice',
    'a.ts',
    'import { tool } from "mcp-patchbay"\nconst one = () => tool({ name: "x", description: "", run: () => "" })\nexport default [one(), one()]',
    /stays: there is a tool "x" already/
  ],
  ['has no default export', 'a.ts', 'export const a = 1', /stays: there is no default export, only "a"/],
  [
    'needs a file that is not there',
    'a.ts',
    'import "./nothing.js"',
    /stays: there is no file .*\/nothing\.js \(line 1\)/
  ]
]

for (const [what, name, source, says] of BROKEN) {
  t.test(`a file that ${what} keeps the old code, and the log says why; mended, it is served`, async t => {
    const folder = await watchedFolder(
      t,
      {
        [name]: toolSource('a', '1'),
        'other.ts': toolSource('other', '1'),
        '_bad.mjs': '\nthrow new Error("broken here")'
      },
      [name, 'other.ts']
    )
    folder.save(name, source)
    t.match(await folder.logged(/cannot be loaded/), says)
    t.strictSame([await folder.call('a'), await folder.call('other')], ['1', '1'])
    folder.save(name, toolSource('a', '2'))
    await folder.logged(/was loaded/)
    t.equal(await folder.call('a'), '2')
  })
}

t.test('a file that is broken at the start is served when it is mended, and the others at once', async t => {
  const folder = await watchedFolder(t, { 'a.ts': 'export default tool({', 'b.ts': toolSource('b', '1') }, ['.'])
  await folder.logged(/a\.ts cannot be loaded; it is left out until it is mended: .*line 1/)
  t.strictSame(await namesOf(folder), ['b'])
  folder.save('a.ts', toolSource('a', '1'))
  await folder.logged(/a\.ts was loaded/)
  t.strictSame(await namesOf(folder), ['a', 'b'])
})

t.test('an import that was missing is seen when it comes', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1') }, ['a.ts'])
  folder.save('a.ts', toolSource('a', 'late', "import { late } from './late.js'"))
  await folder.logged(/there is no file .*late\.js/)
  folder.write('late.ts', 'export const late = "late"')
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), 'late')
})

for (const place of ['tools', 'tools/*.ts', 'tools/**', '**/*.ts']) {
  t.test(`of ${place}, new files are added, deleted ones removed, and one that comes back is served`, async t => {
    const folder = await watchedFolder(t, { 'tools/a.ts': toolSource('a', '1') }, [place])
    folder.write('tools/b.ts', toolSource('b', '1'))
    folder.write('tools/b.test.ts', 'throw new Error("a test")')
    await folder.logged(/b\.ts was loaded/)
    t.strictSame(await namesOf(folder), ['a', 'b'])
    folder.remove('tools/a.ts')
    await folder.logged(/a\.ts is gone/)
    t.strictSame(await namesOf(folder), ['b'])
    folder.write('tools/a.ts', toolSource('a', '2'))
    await folder.logged(/a\.ts was loaded/)
    t.equal(await folder.call('a'), '2')
  })
}

t.test('a new folder below a glob is seen', async t => {
  const folder = await watchedFolder(t, { 'tools/a.ts': toolSource('a', '1') }, ['tools/**'])
  folder.write('tools/deep/er/b.ts', toolSource('b', '1'))
  await folder.logged(/b\.ts was loaded/)
  folder.save('tools/deep/er/b.ts', toolSource('b', '2'))
  await folder.logged(/b\.ts was loaded/)
  t.equal(await folder.call('b'), '2')
})

t.test('a folder that is removed and comes back is watched again', async t => {
  const folder = await watchedFolder(t, { 'tools/a.ts': toolSource('a', '1') }, ['tools'])
  folder.remove('tools')
  await folder.logged(/a\.ts is gone/)
  folder.write('tools/a.ts', toolSource('a', '2'))
  await folder.logged(/a\.ts was loaded/)
  folder.save('tools/a.ts', toolSource('a', '3'))
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), '3')
})

t.test('a file that is renamed keeps its tools, and a tool may move from one file to another', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('y', '1') }, ['.'])
  folder.write('c.ts', toolSource('x', '2'))
  rmSync(join(folder.root, 'a.ts'))
  await folder.logged(/c\.ts was loaded: x/)
  t.equal(await folder.call('x'), '2')
  folder.write('b.ts', toolSource('x', '3'))
  folder.write('c.ts', toolSource('y', '3'))
  await folder.logged(/was loaded/)
  await folder.logged(/was loaded/)
  t.strictSame([await folder.call('x'), await folder.call('y')], ['3', '3'])
})

t.test('calls in flight end with the old code', async t => {
  const wait = 'new Promise(resolve => { globalThis.release = resolve; globalThis.begun() })'
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', `await ${wait} ?? "old"`) }, ['a.ts'])
  const shared = globalThis as unknown as { begun: () => void, release: () => void }
  const begun = new Promise<void>(resolve => { shared.begun = resolve })
  const old = folder.call('a')
  await begun
  folder.save('a.ts', toolSource('a', '"new"'))
  await folder.logged(/a\.ts was loaded/)
  t.equal(await folder.call('a'), 'new')
  shared.release()
  t.equal(await old, 'old')
})

t.test('a touched file is loaded anew, and other files of the folder do not matter', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1') }, ['a.ts'])
  folder.write('notes.log', 'written all the time')
  utimesSync(join(folder.root, 'a.ts'), 5, 5)
  await folder.logged(/a\.ts was loaded/)
  t.strictSame(folder.log.filter(line => line.includes('was loaded')).length, 1)
})

t.test('the stack of an error names the file and line, without a query', async t => {
  const folder = await watchedFolder(t, { 'a.mjs': toolSource('a', '1') }, ['a.mjs'])
  folder.save('a.mjs', toolSource('a', 'new Error("x").stack', '\n'))
  await folder.logged(/was loaded/)
  t.match(await folder.call('a'), new RegExp(`file://${folder.root}/a\\.mjs:4:`))
})
