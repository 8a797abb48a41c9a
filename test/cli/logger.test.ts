import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { commandLogger } from '../../cli/logger.js'
import { AUDIT, auditLevel, type AuditLine } from '../../lib/audit-line.js'
import { LogLines } from '../../system/process/log-lines.js'

const LINE: AuditLine = {
  principal: undefined,
  client: 'desk "one"/1',
  transport: 'stdio',
  revision: '2026-07-28',
  method: 'tools/call',
  tool: 'echo',
  resource: undefined,
  prompt: undefined,
  outcome: 'ok',
  code: undefined,
  at: 1_700_000_000_000,
  ms: 0.061,
  correlation: undefined
}

/** Lines that differ from each other in all the ways they can. */
const LINES: AuditLine[] = [
  LINE,
  { ...LINE, ms: 12 },
  { ...LINE, at: LINE.at + 1, ms: 0 },
  ...[0.001, 0.05, 0.05, 0.3, 1, 1.5, 4.095, 4.096, 4.097, 4.095, 1_234.567, 86_400_000, 0.0005, -0.001].map(ms => ({ ...LINE, ms })),
  { ...LINE, principal: 'key:ada' },
  { ...LINE, client: undefined },
  { ...LINE, transport: 'http' },
  { ...LINE, revision: '2024-11-05' },
  { ...LINE, method: undefined, tool: undefined },
  { ...LINE, tool: undefined, resource: 'note:///{id}' },
  { ...LINE, tool: undefined, prompt: 'greeting' },
  { ...LINE, outcome: 'error', code: -32603, correlation: 'one' },
  { ...LINE, outcome: 'error', code: -32603, correlation: 'other' },
  { ...LINE, outcome: 'error', code: -32602 },
  LINE
]

function written (t: Test): { file: string, fd: number } {
  const file = join(t.testdir(), 'log')
  return { file, fd: openSync(file, 'w') }
}

t.test('audit lines are those that pino writes, byte for byte', async t => {
  const { file, fd } = written(t)
  const logs = new LogLines(fd)
  const logger = commandLogger('info', process.pid, logs)
  for (const line of LINES) logger[AUDIT]?.(line)
  logs.flush()
  const expected: string[] = []
  for (const audit of LINES) pino({ level: 'debug', timestamp: () => `,"time":${audit.at}` }, { write: line => { expected.push(line) } })[auditLevel(audit.transport, audit.outcome)]({ audit }, 'call')
  t.strictSame(readFileSync(file, 'utf8').split(/(?<=\n)/), expected)
})

t.test('they keep their order among other lines', async t => {
  const { file, fd } = written(t)
  const logs = new LogLines(fd)
  const logger = commandLogger('info', process.pid, logs)
  logger.info('first')
  logger[AUDIT]?.(LINE)
  logger.error('last')
  t.strictSame(readFileSync(file, 'utf8').trim().split('\n').map(line => (JSON.parse(line) as { msg: string }).msg), ['first', 'call', 'last'])
  logs.flush()
})
