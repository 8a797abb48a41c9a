import { execFileSync } from 'node:child_process'
import fs, { constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LogLines } from '../../../system/process/log-lines.js'
import { until } from '../../support/wait.js'
import { bestTime, timeOf } from '../../support/timing.js'

/** Lines that go to a file, and how often something was written to it. */
function lines (t: Test) {
  const file = join(t.testdir({ log: '' }), 'log')
  const fd = openSync(file, 'a')
  const counted = { writes: 0 }
  const { writeSync } = fs
  t.intercept(fs, 'writeSync', {
    value: (to: number, bytes: Buffer, at: number) => {
      if (to === fd) counted.writes++
      return writeSync(to, bytes, at)
    }
  })
  const logs = new LogLines(fd)
  return { logs, counted, text: () => readFileSync(file, 'utf8') }
}

const line = (index: number): string => `${JSON.stringify({ index, said: 'é€😀'.repeat(index % 20) })}\n`

const many = Array.from({ length: 2_000 }, (_, index) => line(index))

t.test('many lines are written whole, in their order, and many in one write', async t => {
  const { logs, counted, text } = lines(t)
  for (const line of many) logs.write(line)
  await logs.waitUntilWritten(5_000)
  t.ok(text() === many.join(''), 'every line is there, as it was said')
  t.ok(counted.writes > 0 && counted.writes <= 40, `${counted.writes} writes of ${many.length} lines`)
})

t.test('lines of several turns are in one write as well', async t => {
  const { logs, counted, text } = lines(t)
  for (const line of many.slice(0, 100)) {
    logs.write(line)
    await turn()
  }
  await logs.waitUntilWritten(5_000)
  t.equal(text(), many.slice(0, 100).join(''))
  t.ok(counted.writes <= 10, `${counted.writes} writes`)
})

t.test('a line alone is written a moment later, and the next one too', async t => {
  const { logs, text } = lines(t)
  for (const index of [0, 1]) {
    const before = text()
    logs.write(line(index))
    t.equal(text(), before, 'not at once')
    await until(() => text() === before + line(index))
  }
})

t.test('written() resolves when no line waits', async t => {
  const { logs, text } = lines(t)
  await logs.waitUntilWritten(5_000)
  logs.write(line(0))
  await logs.waitUntilWritten(5_000)
  await logs.waitUntilWritten(5_000)
  t.equal(text(), line(0))
})

t.test('an error is written at once, with the lines before it', async t => {
  const { logs, text } = lines(t)
  logs.write('{"level":30,"msg":"before"}\n')
  t.equal(text(), '')
  logs.write('{"level":50,"msg":"it broke"}\n')
  t.match(text(), /before.*\n.*it broke.*\n$/)
})

t.test('lines that may wait keep their place among the others, and leave with an error that may not', async t => {
  const { logs, counted, text } = lines(t)
  logs.append('{"level":30,"msg":"one"}\n')
  logs.write('{"level":30,"msg":"two"}\n')
  logs.append('{"level":50,"msg":"three"}\n')
  t.equal(text(), '', 'nothing was written yet')
  logs.write('{"level":50,"msg":"four"}\n')
  t.strictSame(text().match(/one|two|three|four/g), ['one', 'two', 'three', 'four'])
  t.equal(counted.writes, 1)
})

t.test('lines that may wait are written a moment later, whole and many in one write', async t => {
  const { logs, counted, text } = lines(t)
  logs.append(line(3))
  await until(() => text() === line(3))
  counted.writes = 0
  for (const line of many) logs.append(line)
  await until(() => text() === line(3) + many.join(''))
  t.ok(counted.writes > 0 && counted.writes <= 40, `${counted.writes} writes of ${many.length} lines`)
})

t.test('lines that wait make one timer, which is gone when they are written', async t => {
  const { logs } = lines(t)
  const waiting = new Set<unknown>()
  const { setTimeout, clearTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (run: () => void, ms: number) => {
      const timer = setTimeout(run, ms)
      waiting.add(timer)
      return timer
    }
  })
  t.intercept(globalThis, 'clearTimeout', {
    value: (timer: NodeJS.Timeout | undefined) => {
      waiting.delete(timer)
      clearTimeout(timer)
    }
  })
  for (let round = 0; round < 3; round++) {
    for (const line of many.slice(0, 20)) logs.append(line)
    t.equal(waiting.size, 1)
    logs.flush()
    t.equal(waiting.size, 0)
  }
})

let pipes = 0

function pipe (t: Test) {
  const path = join(t.testdir(), `pipe-${++pipes}`)
  execFileSync('mkfifo', [path])
  const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => { for (const fd of [writer, reader]) fs.closeSync(fd) })
  const buffer = Buffer.alloc(1_000_000)
  const read = (): string => {
    try {
      return buffer.toString('latin1', 0, readSync(reader, buffer))
    } catch {
      return ''
    }
  }
  return { logs: new LogLines(writer), read }
}

t.test(
  'no write waits for a reader; one that reads again gets whole lines and the number lost',
  { skip: process.platform === 'win32' && 'Windows has other pipes' },
  async t => {
    const { logs, read } = pipe(t)
    const written = 60_000
    for (let index = 0; index < written; index++) {
      logs.write(`{"level":30,"index":${index},"pad":"${'x'.repeat(100)}"}\n`)
    }
    await logs.waitUntilWritten(100)
    t.pass('it is waited for no longer than that')
    let text = ''
    await until(() => {
      text += read()
      return text.includes('were dropped')
    })
    const readLines = text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { index?: number, lost?: number })
    const { lost = 0 } = readLines.find(line => line.lost !== undefined) ?? {}
    const indices = readLines.flatMap(({ index }) => (index === undefined ? [] : [index]))
    t.strictSame(
      indices,
      [...indices].sort((a, b) => a - b)
    )
    t.equal(indices.length + lost, written)
    t.ok(lost > 0 && indices.length > 20_000, `${lost} lost, ${indices.length} read`)
  }
)

t.test('after the end of the reader nothing is kept', async t => {
  const fd = openSync(join(t.testdir({ log: '' }), 'log'), 'r')
  const logs = new LogLines(fd)
  logs.write(line(0))
  await t.resolves(logs.waitUntilWritten(60_000))
  fs.closeSync(fd)
})

t.test('printed text is written at once, in its place among the lines', async t => {
  const { logs, text } = lines(t)
  logs.append(line(1))
  logs.print('printed é\n')
  t.equal(text(), `${line(1)}printed é\n`)
  logs.append(line(2))
  logs.print(Uint8Array.of(0xc3))
  logs.print(Uint8Array.of(0xa9, 10))
  t.equal(text(), `${line(1)}printed é\n${line(2)}é\n`, 'bytes stay bytes')
  await new Promise<void>(resolve => logs.print('', () => resolve()))
})

t.test(
  'a write settles when it was read or lost, and lost lines are counted',
  { skip: process.platform === 'win32' && 'Windows has other pipes' },
  async t => {
    const { logs, read } = pipe(t)
    const results: Array<string | undefined> = []
    let emptied = 0
    logs.onEmpty = () => {
      emptied++
    }
    const printed = 60_000
    for (let index = 0; index < printed; index++) {
      logs.print(`${'x'.repeat(99)}\n`, error => results.push((error as NodeJS.ErrnoException | undefined)?.code))
    }
    await turn()
    const lost = results.filter(code => code === 'ENOBUFS').length
    t.ok(lost > 0 && results.length < printed, `${lost} of ${printed} are lost, and others wait`)
    t.ok(logs.size > 4_000_000 && logs.size <= 4 * 1024 * 1024)
    let text = ''
    await until(() => {
      text += read()
      return text.includes('were dropped')
    })
    await until(() => results.length === printed)
    t.equal(text.split('\n').filter(line => /^x{99}$/.test(line)).length, printed - lost)
    t.equal((JSON.parse(text.trim().split('\n').at(-1) as string) as { lost: number }).lost, lost)
    t.ok(emptied > 0)
  }
)

t.test(
  'at the end each write waits for the reader, but not for one that reads nothing',
  { skip: process.platform === 'win32' && 'Windows has other pipes' },
  async t => {
    const { logs, read } = pipe(t)
    logs.end(60_000)
    logs.append(line(1))
    t.equal(read(), Buffer.from(line(1)).toString('latin1'), 'nothing waits')
    const took = await bestTime(5_000, async () => {
      const { logs: deaf } = pipe(t)
      for (let index = 0; index < 10; index++) deaf.print('x'.repeat(100_000))
      return await timeOf(async () => {
        deaf.end(50)
        deaf.append(line(1))
        deaf.print('more')
        t.ok(deaf.size > 0)
      })
    })
    t.ok(took < 5_000, `${took} ms`)
  }
)
