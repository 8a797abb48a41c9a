import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder } from '../support/process.js'
import { until } from '../support/wait.js'

interface Report {
  parser: () => NodeJS.WritableStream
  end: (codes: unknown[]) => boolean
  printTimes: () => void
  printLeftOut: (files: string[]) => void
  printTotals: () => void
  findFailed: () => Promise<string[]>
  beginAgain: (files: string[]) => void
}

const MODULE = new URL('../../../test/run/report.mjs', import.meta.url).href
const { Report } = await import(MODULE) as { Report: new (path: string, out: object) => Report }

const FAILING = `TAP version 14
# Subtest: a ticket
    ok 1 - is good once
    not ok 2 - and no more
      ---
      at: { fileName: test/a.test.ts, lineNumber: 7, columnNumber: 5 }
      diff: |
        -200
        +401
      ...
    1..2
not ok 1 - a ticket
`

/** A report whose time the test turns, on a terminal or not, and what it has printed. */
async function reporting (t: Test, isTTY: boolean) {
  let tick = (): void => {}
  let every = 0
  const intercepted = t.intercept(globalThis, 'setInterval', {
    value: (run: () => void, ms: number) => {
      [tick, every] = [run, ms]
      return { unref: () => {} }
    }
  })
  const out = { isTTY, printed: '', write (text: string) { this.printed += text } }
  // A socket's path has a hundred characters at most.
  const path = join(await folder(t, {}), 'progress')
  const report = new Report(path, out)
  intercepted.restore()
  const socket = connect(path)
  await once(socket, 'connect')
  t.teardown(() => { socket.destroy(); report.end([0]) })
  const tell = (...lines: object[]): void => { for (const line of lines) socket.write(`${JSON.stringify(line)}\n`) }
  const end = async (): Promise<void> => {
    socket.end()
    await once(socket, 'close')
  }
  return { report, out, every, tell, end, tick: () => tick() }
}

t.test('on a terminal one line says how far the run is, and is replaced each second', async t => {
  const { report, out, every, tell, tick } = await reporting(t, true)
  t.equal(every, 1_000)
  tell(
    { files: ['test/a.test.ts', 'test/b.test.ts'] },
    { begun: 'first', file: 'test/a.test.ts' },
    { ended: 'first', file: 'test/a.test.ts', ms: 1, cpu: 1, isLast: true }
  )
  report.parser().write('TAP version 14\nok 1 - first\n1..1\n')
  await until(() => { tick(); return out.printed.includes('1 of 2 files') })
  t.equal(out.printed.split('\r\x1b[K').at(-1), '… 0 s: 1 of 2 files, 1 passed, 0 failed')
  t.notOk(out.printed.includes('\n'))
})

t.test('elsewhere a line a minute says it', async t => {
  const { out, every, tick } = await reporting(t, false)
  t.equal(every, 60_000)
  tick()
  t.equal(out.printed, '… 0 s: 0 of 0 files, 0 passed, 0 failed\n')
})

t.test('a failing test is printed when it fails, with the command that runs it alone', async t => {
  const { report, out, tell, tick } = await reporting(t, false)
  tell({ files: ['test/access/a.test.ts'] }, { begun: 'a ticket', file: 'test/access/a.test.ts' })
  await until(() => { tick(); return out.printed.includes('of 1 files') })
  report.parser().write(FAILING)
  t.match(
    out.printed,
    /✖ a ticket > and no more\n {4}test\/a\.test\.ts:7:5\n {4}-200\n {4}\+401\n\n {4}run it alone: npm test -- access\/a\.test\.ts\n/
  )
  report.printTotals()
  t.match(
    out.printed,
    /\n✖ a ticket > and no more \(npm test -- access\/a\.test\.ts\)\n(✖ .*\n)*The tests took/,
    'again at the end'
  )
})

t.test('files that failed count anew in their second run, and are named if they pass then', async t => {
  const { report, out, tell, end } = await reporting(t, false)
  const files = ['test/a.test.ts', 'test/b.test.ts']
  tell({ files }, ...files.map(file => ({ begun: `of ${file}`, file })), ...files.map(file => ({ ended: 'x', file, ms: 1, cpu: 1, isLast: true })))
  await end()
  report.parser().end(`TAP version 14\nok 1 - one\n${files.map((file, index) => `not ok ${index + 2} - of ${file}\n`).join('')}1..3\n`)
  t.strictSame(await report.findFailed(), files)
  report.beginAgain(files)
  report.parser().end('TAP version 14\nok 1 - of test/a.test.ts\nnot ok 2 - of test/b.test.ts\n1..2\n')
  t.equal(report.end([1]), false)
  out.printed = ''
  report.printTotals()
  t.strictSame(out.printed.trimEnd().split('\n'), [
    'Failed beside others, and passed alone, so to be mended: test/a.test.ts',
    '✖ of test/b.test.ts (npm test -- b.test.ts)',
    'The tests took 0 s.',
    '2 passed, 1 failed'
  ])
})

t.test('files that did not run to their end, or that nobody knows, get no second run', async t => {
  const { report, tell, end } = await reporting(t, false)
  tell({ files: ['test/a.test.ts', 'test/b.test.ts'] }, { begun: 'one', file: 'test/a.test.ts' }, { ended: 'one', file: 'test/a.test.ts', ms: 1, cpu: 1, isLast: true })
  await end()
  report.parser().end('TAP version 14\nnot ok 1 - one\n1..1\n')
  t.strictSame(await report.findFailed(), [])
  const unknown = await reporting(t, false)
  await unknown.end()
  unknown.report.parser().end('TAP version 14\nnot ok 1 - one\n1..1\n')
  t.strictSame(await unknown.report.findFailed(), [])
})

t.test('the end has what was left out, the time, and what passed and failed', async t => {
  const { report, out } = await reporting(t, false)
  report.parser().end('TAP version 14\nok 1 - one\nok 2 - two # SKIP no nginx\nok 3 - three\n1..3\n')
  t.equal(report.end([0, 0]), true)
  report.printLeftOut(['test/b.slow.test.ts', 'test/c.slow.test.ts'])
  report.printTotals()
  t.strictSame(out.printed.trimEnd().split('\n'), [
    '- two (no nginx)',
    'Not run: the slow tier, 2 files such as test/b.slow.test.ts and test/c.slow.test.ts ("npm run test:all" runs both tiers).',
    'The tests took 0 s.',
    '2 passed, 0 failed, 1 skipped'
  ])
})

t.test('a run fails where no test ran, where one failed, and where a process of it did', async t => {
  const none = await reporting(t, false)
  t.equal(none.report.end([0]), false)
  t.match(none.out.printed, /No tests ran/)
  for (const [tap, codes] of [
    ['TAP version 14\nok 1 - one\n1..1\n', [0, 'SIGKILL']],
    ['TAP version 14\nnot ok 1 - one\n1..1\n', [0, 0]]
  ] as const) {
    const { report, out } = await reporting(t, false)
    report.parser().write(tap)
    t.equal(report.end([...codes]), false)
    t.match(
      out.printed,
      tap.includes('not ok') ? /✖ one/ : /No test failed, but a process of the tests ended with SIGKILL/
    )
  }
})

t.test('the times are those of the files, the most of the processor first', async t => {
  const { report, out, tell, tick } = await reporting(t, false)
  tell({ files: ['test/a.test.ts', 'test/b.test.ts'] })
  for (const [file, cpu] of [
    ['test/a.test.ts', 100],
    ['test/b.test.ts', 120],
    ['test/a.test.ts', 100]
  ] as const) { tell({ ended: 'x', file, ms: 1_000, cpu, isLast: file === 'test/b.test.ts' }) }
  tell({ ended: 'y', file: 'test/a.test.ts', ms: 0, cpu: 0, isLast: true })
  await until(() => { tick(); return out.printed.includes('2 of 2') })
  out.printed = ''
  report.printTimes()
  t.equal(out.printed, '    2.0 s, CPU     0.2 s  test/a.test.ts\n    1.0 s, CPU     0.1 s  test/b.test.ts\n')
})
