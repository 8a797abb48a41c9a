import { execFileSync } from 'node:child_process'
import fs, { constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LogLines } from '../../system/log-lines.js'
import { eventually } from '../protocol/deadline.js'

/** Lines that go to a file, and how often something was written to it. */
function lines (t: Test) {
  const file = join(t.testdir({ log: '' }), 'log')
  const fd = openSync(file, 'a')
  const counted = { writes: 0 }
  const { write } = fs
  t.intercept(fs, 'write', { value: (...args: Parameters<typeof write>) => { if (args[0] === fd) counted.writes++; write(...args) } })
  const logs = new LogLines(fd)
  t.teardown(() => logs.drop())
  return { logs, counted, text: () => readFileSync(file, 'utf8') }
}

const line = (index: number): string => `${JSON.stringify({ index, said: 'é€😀'.repeat(index % 20) })}\n`

const many = Array.from({ length: 2_000 }, (_, index) => line(index))

t.test('many lines are written whole, in their order, and many in one write', async t => {
  const { logs, counted, text } = lines(t)
  for (const line of many) logs.write(line)
  await logs.written(5_000)
  t.ok(text() === many.join(''), 'every line is there, as it was said')
  t.ok(counted.writes > 0 && counted.writes <= 40, `${counted.writes} writes of ${many.length} lines`)
})

t.test('lines of several turns are in one write as well', async t => {
  const { logs, counted, text } = lines(t)
  for (const line of many.slice(0, 100)) {
    logs.write(line)
    await turn()
  }
  await logs.written(5_000)
  t.equal(text(), many.slice(0, 100).join(''))
  t.ok(counted.writes <= 10, `${counted.writes} writes`)
})

t.test('a line alone is written a moment later, and the next one too', async t => {
  const { logs, text } = lines(t)
  for (const index of [0, 1]) {
    const before = text()
    logs.write(line(index))
    t.equal(text(), before, 'not at once')
    await eventually(() => text() === before + line(index))
  }
})

t.test('who has nothing to say has written it', async t => {
  const { logs, text } = lines(t)
  await logs.written(5_000)
  logs.write(line(0))
  await logs.written(5_000)
  await logs.written(5_000)
  t.equal(text(), line(0))
})

t.test('nothing is written any more once it is dropped', async t => {
  const { logs, counted } = lines(t)
  logs.write(line(0))
  logs.drop()
  for (const line of many) logs.write(line)
  t.equal(counted.writes, 0)
})

t.test('nobody waits for a reader that does not read, and one that does gets whole lines', { skip: process.platform === 'win32' }, async t => {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  const logs = new LogLines(openSync(path, constants.O_RDWR | constants.O_NONBLOCK))
  t.teardown(() => logs.drop())
  for (const line of many) logs.write(line)
  await logs.written(100)
  t.pass('it is waited for no longer than that')
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const [all, waiting] = [Buffer.from(many.join('')), Buffer.alloc(1_000_000)]
  const read = readSync(reader, waiting)
  fs.closeSync(reader)
  t.ok(read > 1_000 && read < all.length, `${read} of ${all.length} bytes fit`)
  t.ok(waiting.subarray(0, read).equals(all.subarray(0, read)))
})
