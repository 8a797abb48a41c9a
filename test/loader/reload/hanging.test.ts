import t from 'tap'
import { inTime, until } from '../../support/wait.js'
import { toolSource, watchedFolder } from '../../support/watched-folder.js'
import { stopTime } from '../../support/clocks.js'

const HANGING: Array<[what: string, source: string]> = [
  ['has a top-level await that never ends', 'globalThis.begun = true\nawait new Promise(() => {})\nexport default []'],
  ['imports a file with such an await', "import './_lib.js'\nexport default []"],
  [
    'has a function that never ends',
    'export default async () => { globalThis.begun = true; await new Promise(() => {}) }'
  ],
  ['never calls done', 'export default (app, options, done) => { globalThis.begun = true }'],
  [
    'has an onReady hook that never ends',
    "export default async app => app.addHook('onReady', async () => { globalThis.begun = true; await new Promise(() => {}) })"
  ]
]

const shared = globalThis as unknown as { begun: boolean, closed: string[], go: () => void }

for (const [what, source] of HANGING) {
  t.test(`the load of a file that ${what} is given up when it is saved again, and when the gateway stops`, async t => {
    const lib = 'globalThis.begun = true\nawait new Promise(() => {})'
    const folder = await watchedFolder(
      t,
      { 'a.ts': toolSource('a', '1'), 'b.ts': toolSource('b', '1'), '_lib.ts': lib },
      ['a.ts', 'b.ts']
    )
    shared.begun = false
    folder.save('a.ts', source)
    await until(() => shared.begun)
    t.equal(await folder.call('a'), '1', 'the old code is served')
    folder.save('b.ts', toolSource('b', '2'))
    folder.save('a.ts', toolSource('a', '2'))
    await folder.logged(/a\.ts was saved again, so the former load is given up/)
    await folder.logged(/a\.ts was loaded/)
    await folder.logged(/b\.ts was loaded/)
    t.strictSame([await folder.call('a'), await folder.call('b')], ['2', '2'])
    shared.begun = false
    // The deadline of a load does not come.
    const { pass } = stopTime(t)
    // An import of the same file again would wait for the one before, without a sign.
    folder.save('_lib.ts', `${lib}\n// again`)
    folder.save('a.ts', source)
    await until(async () => { await pass(2); return shared.begun }, 'the load')
    await inTime(folder.app.close(), 'the stop')
  })
}

t.test('a load is given up when a file that it imports is saved again, for all files that import it', async t => {
  const lib = (end: string): string => `globalThis.begun = true\n${end}\nexport const value = 2`
  const using = (name: string): string => toolSource(name, 'value', "import { value } from './_lib.js'")
  const folder = await watchedFolder(
    t,
    { 'a.ts': toolSource('a', '1'), 'b.ts': toolSource('b', '1'), '_lib.ts': lib('await new Promise(() => {})') },
    ['.']
  )
  shared.begun = false
  folder.save('b.ts', using('b'))
  folder.save('a.ts', using('a'))
  await until(() => shared.begun)
  // Node.js 24 evaluates a module before it delivers the messages of the hooks, which tell of the import.
  await new Promise(resolve => setImmediate(resolve))
  folder.save('_lib.ts', lib(''))
  await folder.logged(/was saved again/)
  await folder.logged(/was loaded/)
  await folder.logged(/was loaded/)
  t.notMatch(folder.log.join('\n'), /did not end within/, 'none waits for its deadline')
  t.strictSame([await folder.call('a'), await folder.call('b')], ['2', '2'])
})

t.test('what a load registers after it was given up is ignored, and what it opened is closed', async t => {
  const late = `import { tool } from 'mcp-patchbay'
export default async app => {
  app.addHook('onClose', () => { globalThis.closed.push('early') })
  await new Promise(resolve => { globalThis.go = resolve; globalThis.begun = true })
  app.addHook('onClose', () => { globalThis.closed.push('late') })
  app.mcp.use(async () => { throw new Error('late middleware') })
  app.mcp.tools.add(tool({ name: 'late', description: '', run: () => '' }))
}`
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1') }, ['a.ts'])
  Object.assign(shared, { begun: false, closed: [] })
  folder.save('a.ts', late)
  await until(() => shared.begun)
  folder.save('a.ts', toolSource('a', '2'))
  await folder.logged(/a\.ts was loaded/)
  t.strictSame(shared.closed, ['early'])
  shared.go()
  await until(() => shared.closed.length === 2)
  t.strictSame(shared.closed, ['early', 'late'])
  t.strictSame(folder.app.mcp.tools.names(), ['a'])
  t.equal(await folder.call('a'), '2')
})

t.test('the log names a file that is waited for, and after the deadline other files are loaded', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('a', '1'), 'b.ts': toolSource('b', '1') }, [
    'a.ts',
    'b.ts'
  ])
  const { pass } = stopTime(t)
  const passing = async (isOver: () => boolean): Promise<void> =>
    await until(async () => {
      await pass(20)
      return isOver()
    }, 'the time')
  shared.begun = false
  folder.save('a.ts', 'globalThis.begun = true\nawait new Promise(() => {})\nexport default []')
  await passing(() => shared.begun)
  folder.save('b.ts', toolSource('b', '2'))
  await passing(() => folder.log.some(line => line.includes('b.ts was loaded')))
  await folder.logged(/plugin .*a\.ts: still waiting for it; its top-level awaits/)
  await folder.logged(/a\.ts cannot be loaded, so its former code stays: it did not end within 10 s/)
  await folder.logged(/b\.ts was loaded/)
  t.strictSame([await folder.call('a'), await folder.call('b')], ['1', '2'])
})
