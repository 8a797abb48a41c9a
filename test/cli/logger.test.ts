import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandLogger } from '../../cli/logger.js'
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
  t.match(lines, [{ level: 30, pid: 42, hostname: String, msg: 'first' }, { level: 30, audit: { outcome: 'ok' }, msg: 'ping ok 0.1 ms (http)' }, { level: 50, msg: 'last' }])
  t.equal(lines.length, 3)
  logs.flush()
})
