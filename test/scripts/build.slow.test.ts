import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { folder, Launched, type Ended } from '../support/process.js'
import { ROOT } from './packed.js'

/** Stands for the compiler: fails while there is a file "broken". */
const COMPILER = `
  import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
  if (existsSync('broken')) process.exit(2)
  if (process.argv.includes('-p')) process.exit(0)
  mkdirSync('build', { recursive: true })
  writeFileSync('build/app.js', '')
  appendFileSync('log', 'built\\n')`

/** Stands for the bundler: one file has the same name in each bundle, another one the text of app.ts. */
const BUNDLER = `
  import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
  import { noteFiles } from './bundle/last-build.mjs'
  const late = 'late-' + readFileSync('app.ts', 'utf8') + '.js'
  for (const name of ['prebuilds', 'fallbacks', 'types']) mkdirSync('dist/' + name, { recursive: true })
  for (const name of ['app.js', late, 'LICENSES.txt']) writeFileSync('dist/' + name, '')
  noteFiles('.', ['app.js', late])`

/** A checkout whose compiler and bundler take no time. */
async function checkout (t: Test) {
  const root = await folder(t, {
    'app.ts': '1',
    'package.json': '{"type":"module"}',
    'package-lock.json': '1',
    log: ''
  })
  for (const name of ['tools', 'docs', 'test/docs', 'node_modules/typescript7/bin']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  cpSync(fileURLToPath(new URL('scripts', ROOT)), join(root, 'scripts'), { recursive: true })
  const write = (file: string, text: string): void => writeFileSync(join(root, file), text)
  write('scripts/bundle.mjs', BUNDLER)
  write('scripts/copy-types.mjs', "import { writeFileSync } from 'node:fs'\nwriteFileSync('dist/types/app.d.ts', '')")
  write('node_modules/typescript7/bin/tsc', COMPILER)
  write('node_modules/typescript7/package.json', '{"type":"module"}')
  write('node_modules/.package-lock.json', '1')
  const run = async (...flags: string[]): Promise<Ended> =>
    await new Launched(spawn(process.execPath, [join(root, 'scripts/build.mjs'), ...flags])).exit()
  /** How many builds were made. */
  const built = (): number => readFileSync(join(root, 'log'), 'utf8').split('\n').length - 1
  /** Starts as `npm start` does, and tells whether that built. */
  const builds = async (): Promise<boolean> => {
    const before = built()
    const { code, stderr, stdout } = await run('--if-needed')
    t.match({ code, stdout }, { code: 0, stdout: '' }, stderr)
    t.equal(/building, because the sources changed/.test(stderr), built() > before)
    return built() > before
  }
  const remove = (file: string): void => rmSync(join(root, file), { recursive: true })
  const late = (): string[] => readdirSync(join(root, 'dist')).filter(name => name.startsWith('late-'))
  return { root, run, built, builds, write, remove, late }
}

t.test('a fresh checkout is built once; a build that is asked for is always made', async t => {
  const { run, built, builds } = await checkout(t)
  t.ok(await builds())
  t.notOk(await builds())
  t.match(await run(), { code: 0, stderr: '' })
  t.equal(built(), 2)
  t.notOk(await builds())
})

t.test(
  'what a build reads makes another one necessary when it changes, and what it does not read does not',
  async t => {
    t.setTimeout(600_000)
    const { builds, write, remove } = await checkout(t)
    await builds()
    const read = [
      'app.ts',
      'tools/hello.ts',
      'test/docs/page.test.ts',
      'package-lock.json',
      'node_modules/.package-lock.json',
      'scripts/bundle/stand-ins.mjs',
      'tsconfig.json'
    ]
    for (const file of read) {
      write(file, '2')
      t.ok(await builds(), file)
    }
    for (const file of ['docs/page.json', 'README.md', 'dist/app.js']) {
      write(file, '2')
      t.notOk(await builds(), file)
    }
    remove('tools/hello.ts')
    t.ok(await builds(), 'a source was deleted')
    for (const file of ['dist', 'build', 'dist/late-2.js', 'dist/types', 'dist/prebuilds']) {
      remove(file)
      t.ok(await builds(), `${file} was deleted`)
    }
  }
)

t.test('after a build that failed the next start builds, even of the sources that were built before', async t => {
  const { run, builds, write, remove } = await checkout(t)
  await builds()
  write('broken', '')
  t.match(await run(), { code: 2 })
  t.match(await run('--if-needed'), { code: 2, stderr: /building/ })
  remove('broken')
  t.ok(await builds())
  t.notOk(await builds())
})

t.test('two starts at once build once; a lock of a process that was killed holds nothing up', async t => {
  const { root, run, built, write } = await checkout(t)
  const ended = await Promise.all([run('--if-needed'), run('--if-needed')])
  t.match(ended, [{ code: 0 }, { code: 0 }])
  t.equal(built(), 1)
  const killed = spawn(process.execPath, ['--version'])
  await new Launched(killed).exit()
  write('build/building.pid', String(killed.pid))
  write('app.ts', '2')
  t.match(await run('--if-needed'), { code: 0 })
  t.equal(built(), 2)
  t.notOk(existsSync(join(root, 'build/building.pid')))
})

t.test('an old lock holds nothing up, although a process has the id in it', async t => {
  const { root, run, built, write } = await checkout(t)
  mkdirSync(join(root, 'build'))
  write('build/building.pid', String(process.pid))
  const before = Date.now() / 1000 - 3_600
  utimesSync(join(root, 'build/building.pid'), before, before)
  t.match(await run('--if-needed'), { code: 0 })
  t.equal(built(), 1)
  t.strictSame(readdirSync(join(root, 'build')).filter(name => name.startsWith('building')), [])
})

t.test('files of the last build that was different stay, and older ones go', async t => {
  const { run, write, late } = await checkout(t)
  for (const [text, kept] of [['1', ['1']], ['2', ['1', '2']], ['2', ['1', '2']], ['3', ['2', '3']]] as const) {
    write('app.ts', text)
    await run()
    t.strictSame(late(), kept.map(each => `late-${each}.js`))
  }
  await run('--clean')
  t.strictSame(late(), ['late-3.js'], 'none is packed')
})

t.test('the compiler forgets what it compiled when a file of that is gone, and so writes it again', async t => {
  const { root, run, write, remove } = await checkout(t)
  const memory = { fileNames: ['lib.es5.d.ts', '../node_modules/x/x.ts', '../app.ts', '../tools/a.ts'] }
  const remembers = async (): Promise<boolean> => {
    write('build/tsc.tsbuildinfo', JSON.stringify(memory))
    await run()
    return existsSync(join(root, 'build/tsc.tsbuildinfo'))
  }
  mkdirSync(join(root, 'build/tools'), { recursive: true })
  write('tools/a.ts', '')
  for (const name of ['app', 'tools/a']) {
    for (const ending of ['.js', '.js.map', '.d.ts']) write(`build/${name}${ending}`, '')
  }
  t.ok(await remembers())
  remove('build/tools/a.js')
  t.notOk(await remembers(), 'it was deleted by hand')
  write('build/tools/a.js', '')
  t.ok(await remembers())
  remove('tools/a.ts')
  t.notOk(await remembers(), 'its source was deleted')
  t.notOk(existsSync(join(root, 'build/tools/a.js')))
})
