import { tracingChannel } from 'node:diagnostics_channel'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { commandLogger } from '../../cli/logger.js'
import { JSON_MEMBERS } from '../../lib/json-text.js'
import { LogLines } from '../../system/process/log-lines.js'

t.test('lines keep their order, and have the level, process and host that pino writes', async t => {
  const file = join(t.testdir(), 'log')
  const logs = new LogLines(openSync(file, 'w'))
  const logger = commandLogger('info', 42, logs)
  logger.info('first')
  logger.debug('not logged')
  logger.info({ audit: { outcome: 'ok' } }, 'ping ok 0.1 ms (http)')
  logger.error('last')
  const lines = readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line) as object)
  t.match(lines, [
    { level: 30, pid: 42, hostname: String, msg: 'first' },
    { level: 30, audit: { outcome: 'ok' }, msg: 'ping ok 0.1 ms (http)' },
    { level: 50, msg: 'last' }
  ])
  t.equal(lines.length, 3)
  logs.flush()
})

t.test('an object that writes its own members has the line that pino writes', async t => {
  const file = join(t.testdir(), 'log')
  const logs = new LogLines(openSync(file, 'w'))
  const logger = commandLogger('info', 42, logs)
  const usual: string[] = []
  const other = pino({ base: null }, { write: line => usual.push(line) })
  class Known {
    readonly one = 1
    readonly two = 'two';
    [JSON_MEMBERS] (): string { return '"one":1,"two":"written"' }
  }
  const expected = { one: 1, two: 'written' }
  const child = logger.child({ more: true })
  for (const said of ['plain', 'a "quote"\nand a line', '%s is no placeholder', '']) {
    logger.info(new Known(), said)
    child.warn(new Known(), said)
    other.info(expected, said)
    other.warn({ more: true, ...expected }, said)
  }
  logger.info(new Known())
  other.info({ one: 1, two: 'two' })
  const heard: unknown[] = []
  const channel = tracingChannel('pino_asJson')
  const ignore = (): void => {}
  const start = (line: unknown): void => { heard.push(line) }
  const listener = { start, end: ignore, asyncStart: ignore, asyncEnd: ignore, error: ignore }
  channel.subscribe(listener)
  logger.info(new Known(), 'heard')
  channel.unsubscribe(listener)
  other.info({ one: 1, two: 'two' }, 'heard')
  t.equal(heard.length, 1, 'programs that follow the lines of pino hear of it')
  logs.flush()
  const parsed = (line: string): object => {
    const { time, hostname, pid, ...rest } = JSON.parse(line) as Record<string, unknown>
    return rest
  }
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  t.strictSame(lines.map(parsed), usual.map(parsed))
  t.match(JSON.parse(lines[1] as string), { time: Number, hostname: String, pid: 42, level: 40, more: true })
})

t.test('a message and a stack of any length make a line that can be read, and the frames stay', async t => {
  const file = join(t.testdir(), 'log')
  const logs = new LogLines(openSync(file, 'w'))
  const logger = commandLogger('info', 42, logs)
  logger.error({ err: new Error('x'.repeat(5_000_000)) }, 'long')
  logger.error({ err: new AggregateError([new TypeError('y'.repeat(20_000)), 'text'], 'all failed') }, 'many')
  logger.error({ err: 'no error' }, 'text')
  logs.flush()
  const [long, many, plain] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { err: { message: string, stack: string } })
  t.equal(long?.err.message, `${'x'.repeat(16_384)}… (4983616 more characters)`)
  t.match(long?.err.stack, /^Error: x{1024}… \(4998976 more characters\)\n +at .*logger\.test/)
  t.match(many, {
    err: {
      type: 'AggregateError',
      message: 'all failed',
      stack: /logger\.test/,
      aggregateErrors: [{ type: 'TypeError', message: `${'y'.repeat(16_384)}… (3616 more characters)` }, 'text']
    }
  })
  t.match(plain, { err: 'no error' })
})
