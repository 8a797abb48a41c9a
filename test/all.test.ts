import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const RUNNER = fileURLToPath(new URL('../../test/run.mjs', import.meta.url))
const PART = fileURLToPath(new URL('parts/1.js', import.meta.url))

/** Runs the test files of a folder as `npm test` does. */
async function run (folder: string, env: Record<string, string> = {}): Promise<{ code: number, output: string }> {
  const { TAP: _, TAP_CHILD_ID: __, ...rest } = process.env
  const child = spawn(process.execPath, [PART], {
    env: { ...rest, TAP: '1', TEST_FOLDER: folder, TEST_FILES: '', TEST_PARTS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>
  ])
  return { code, output: output + errors }
}

const orderOf = (output: string): string[] => [...output.matchAll(/^ok \d+ - (\w+)/gm)].map(([, name = '']) => name)

t.test('a file that waits for its tests at the top level is run, in its order, and so are the others', async t => {
  const folder = t.testdir({
    'a.test.js': `
      import t from 'tap'
      const order = []
      await t.test('first', async t => { order.push('first') })
      order.push('between')
      await Promise.all([t.test('second', async t => { t.strictSame(order, ['first', 'between']) })])
      t.test('third', async t => {})`,
    'b.test.js': "import t from 'tap'; t.test('other', async t => {})"
  })
  const { code, output } = await run(folder)
  t.equal(code, 0, output)
  t.strictSame(orderOf(output), ['first', 'other', 'second', 'third'])
})

t.test('a file that fails after a test that it waited for is named', async t => {
  const folder = t.testdir({
    'a.test.js': "import t from 'tap'; await t.test('first', async t => {}); throw new Error('no more')"
  })
  const { code, output } = await run(folder)
  t.not(code, 0)
  t.match(output, /not ok \d+ - test\/a\.test\.ts loads/)
})

t.test('a file that never loads is named, and so is one that never ends', async t => {
  for (const source of [
    'await new Promise(() => {})',
    "await t.test('first', async t => {}); await new Promise(() => {})"
  ]) {
    const { code, output } = await run(t.testdir({ 'stuck.test.js': `import t from 'tap'; ${source}` }), {
      TEST_TIMEOUT: '500'
    })
    t.not(code, 0)
    t.match(output, /test\/stuck\.test\.ts.* at its top level/)
  }
})

t.test('an error that nothing catches fails the test that runs, and no other', async t => {
  const throwing =
    "await new Promise(resolve => { setImmediate(() => { setImmediate(resolve); throw new Error('lost') }) })"
  const rejecting = "void Promise.reject(new Error('lost')); await new Promise(resolve => setImmediate(resolve))"
  for (const work of [throwing, rejecting]) {
    const source = `import t from 'tap'; t.test('first', async t => {}); t.test('second', async t => { await t.test('inner', async t => { ${work} }) }); t.test('third', async t => {})`
    const { code, output } = await run(t.testdir({ 'a.test.js': source }))
    t.not(code, 0)
    t.match(output, /not ok \d+ - lost[^]*not ok \d+ - inner/)
    t.strictSame(orderOf(output), ['first', 'third'])
  }
})

t.test('a word that fits no test file is named', async t => {
  const child = spawn(process.execPath, [RUNNER, 'structure', 'no-such-word'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>])
  t.equal(code, 1)
  t.match(output, /^No test file has "no-such-word" in its path/)
})
