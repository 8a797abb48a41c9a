import { readdir, readFile, writeFile } from 'node:fs/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writePackage } from '../../cli/commands/new.js'
import { folder, initialize, launch, PROCESSES, toolCall } from '../support/process.js'
import { version } from '../../version.js'

const FILES = ['.gitignore', 'README.md', 'package.json', 'tsconfig.json', 'word-count.test.ts', 'word-count.ts']

t.test('patchbay new', async t => {
  t.jobs = PROCESSES

  t.test('writes a package that is served at once, and says what to do next', { buffered: true }, async t => {
    const place = await folder(t, {})
    const { code, stdout, stderr } = await launch(t, ['new', 'word-count'], { cwd: place }).exit()
    t.match({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^The package word-count is in word-count\/, with the tool "word_count":\n/)
    t.match(stdout, /\n {2}cd word-count\n {2}npm install\n {2}npm test .*\n {2}node \/.*\/cli\.js --plugin \. --reload /)
    t.strictSame((await readdir(join(place, 'word-count'))).sort(), FILES)
    const served = launch(t, ['--stdio', '--ephemeral', '--plugin', './word-count'], { cwd: place })
    served.send(initialize, toolCall(1, 'word_count', { text: 'a b  c' }))
    await served.next()
    t.match(await served.next(), { id: 1, result: { content: [{ text: 'Words: 3' }] } })
    served.end()
    t.equal((await served.exit()).code, 0)
  })

  t.test('a scope is part of the package, not of the folder and the tool', { buffered: true }, async t => {
    const place = await folder(t, {})
    t.match(await launch(t, ['new', '@acme/tides'], { cwd: place }).exit(), { code: 0, stdout: /the tool "tides"/ })
    const manifest = JSON.parse(await readFile(join(place, 'tides/package.json'), 'utf8')) as object
    t.match(manifest, {
      name: '@acme/tides',
      exports: { '.': { types: './dist/tides.d.ts', default: './dist/tides.js' } },
      peerDependencies: { 'mcp-patchbay': `>=${version}` }
    })
  })

  t.test('touches nothing that is there', { buffered: true }, async t => {
    const place = await folder(t, { 'word-count': 'mine' })
    const { code, stdout, stderr } = await launch(t, ['new', 'word-count'], { cwd: place }).exit()
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.equal(stderr, `patchbay: ${place}/word-count is there already; choose another name, or move it away\n`)
    t.equal(await readFile(join(place, 'word-count'), 'utf8'), 'mine')
  })

  for (const [args, stderr] of [
    [[], /^patchbay: a package has one name: patchbay new NAME\n$/],
    [['a', 'b'], /^patchbay: a package has one name: patchbay new NAME\n$/],
    [['Word Count'], /digits and dashes, and begins with a letter, unlike "Word Count"; did you mean "word-count"\?\n$/],
    [['../x'], /unlike "\.\.\/x"; did you mean "x"\?\n$/],
    [['@acme/2 Tides'], /; did you mean "@acme\/tides"\?\n$/],
    [['x.test'], /; did you mean "x-test"\?\n$/],
    [['7'], /unlike "7"\n$/],
    [['x'.repeat(49)], /has more than 48 characters; choose a shorter one\n$/],
    [['mcp-patchbay'], /^patchbay: "mcp-patchbay" is the name of a package or module that the new one needs; choose another\n$/],
    [['fs'], /^patchbay: "fs" is the name of a package or module/],
    [['calculate'], /^patchbay: Patchbay has a tool "calculate" itself, .*; choose another name\n$/],
    [['--plugin', 'x'], /^patchbay: there is no option --plugin; see patchbay --help\n$/]
  ] as Array<[string[], RegExp]>) {
    t.test(`refuses: patchbay new ${args.join(' ')}`, { buffered: true }, async t => {
      const place = await folder(t, {})
      t.match(await launch(t, ['new', ...args], { cwd: place }).exit(), { code: 1, stdout: '', stderr })
      t.strictSame(await readdir(place), [])
    })
  }
})

t.test('a disk that is full leaves no part of a package behind', async t => {
  const place = await folder(t, {})
  const facts = { name: 'x', file: 'x', tool: 'x', version, source: '*' }
  const fillUp = ((file, text, options) => {
    if (String(file).endsWith('README.md')) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    writeFileSync(file, text, options)
  }) as typeof writeFileSync
  t.throws(() => writePackage(facts, place, fillUp), { message: /x cannot be written \(ENOSPC\); nothing was left behind$/ })
  t.strictSame(await readdir(place), [])
  t.throws(() => writePackage(facts, join(place, 'none')), { message: /none\/x cannot be created \(ENOENT\); go to/ })
  await writeFile(join(place, 'x'), '')
  t.throws(() => writePackage(facts, place), { message: /x is there already/ })
})
