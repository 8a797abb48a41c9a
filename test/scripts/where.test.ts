import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const RUNNER = fileURLToPath(new URL('../../../test/run.mjs', import.meta.url))
const where = (file: string): string[] =>
  execFileSync(process.execPath, [RUNNER, '--where', file], { encoding: 'utf8' }).trim().split('\n')

t.test('--where lists the tests that import a file directly first', async t => {
  t.match(where('lib/network.ts'), [/^lib\/network\.ts is tested, by import/, /^ +test\/lib\/network\.test\.ts$/])
})

t.test('--where lists the tests that reach a file through others, those with its name first', async t => {
  t.match(where('tools/health-check.ts')[1], /test\/tools\/health-check\.test\.ts +\(through \d+ more\)/)
  t.match(where('routes/ticket.ts')[1], /test\/access\/tickets\.test\.ts +\(through \d+ more\)/)
})

t.test('--where says that a file does not exist', async t => {
  t.strictSame(where('no/such.ts'), ['There is no file no/such.ts.'])
})
