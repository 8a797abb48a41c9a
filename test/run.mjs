// Runs the compiled tests. Words after the command choose the files whose path contains one of them; without words the fast tier is run,
// with --slow the other one, and with --all both. With --again, a few files that fail are run once more, alone. With --where FILE it
// only prints which test files reach that product file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from '../scripts/test-setup.mjs'
import { Report } from './run/report.mjs'
import { where } from './where.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** How many processes share the files: most of them wait most of the time. */
const PARTS = 5
/** In seconds, for all tests of a part, on a machine that others use, too; test/all.ts limits each of them. */
const TIMEOUT = 3_900
/** When more files fail, a second run is not worth its time. */
const MAX_AGAIN = 5
const FLAGS = ['--all', '--slow', '--times', '--again', '--where']
/** Where `tap report` looks. */
const COVERAGE = join(ROOT, '.tap/coverage')

const [flags, words] = [process.argv.slice(2).filter(isFlag), process.argv.slice(2).filter(word => !isFlag(word))]
const unknown = flags.filter(flag => !FLAGS.includes(flag))
if (unknown.length > 0) {
  console.log(`There is no flag ${unknown.join(' or ')}. The flags are ${FLAGS.join(', ')}; test/README.md says what they do.`)
  process.exit(1)
}
if (flags[0] === '--where') {
  console.log(where(ROOT, words[0] ?? ''))
  process.exit()
}

const files = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).map(file => `test/${file.replaceAll('\\', '/')}`).filter(file => file.endsWith('.test.ts'))
const idle = words.filter(word => !files.some(file => file.includes(word)))
if (idle.length > 0) {
  console.log(`No test file has ${idle.map(word => `"${word}"`).join(' or ')} in its path. "npm test -- --where FILE" prints the tests of a product file.`)
  process.exit(1)
}

const tier = words.length > 0 || flags.includes('--all') ? 'all' : flags.includes('--slow') ? 'slow' : 'fast'
const parts = words.length > 0 ? 1 : PARTS
// What gateways under test keep is not put among the user's own, and the config file of the user is not read.
const folder = mkdtempSync(join(tmpdir(), 'patchbay-tests-'))
const report = new Report(join(folder, 'progress'))

prepare()
rmSync(COVERAGE, { recursive: true, force: true })

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop(signal))
let running = Array.from({ length: parts }, (_, index) => runPart(index + 1, { tier, words, parts }))
let codes = await Promise.all(running.map(({ code }) => code))
if (flags.includes('--again')) {
  const failed = await report.findFailed()
  if (failed.length > 0 && failed.length <= MAX_AGAIN) {
    report.beginAgain(failed)
    running = [runPart(1, { tier: 'all', words: failed, parts: 1 })]
    codes = [await running[0].code]
  }
}
const hasCoverage = tier !== 'fast' || await checkCoverage()
const succeeded = report.end(codes)
rmSync(folder, { recursive: true, force: true })
if (flags.includes('--times')) report.printTimes()
if (tier === 'fast') report.printLeftOut(files.filter(file => file.includes('.slow.test.')))
report.printTotals()
process.exitCode = succeeded && hasCoverage ? 0 : 1

/** Starts a process for one part of the files. */
function runPart (part, { tier, words, parts }) {
  const child = spawn(process.execPath, ['--enable-source-maps', `build/test/parts/${part}.js`], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...tier === 'fast' && { TEST_COVERAGE: COVERAGE },
      TAP: '1',
      TAP_TIMEOUT: String(TIMEOUT),
      TEST_FILES: words.join(' '),
      TEST_TIER: tier,
      TEST_PARTS: String(parts),
      TEST_PROGRESS: report.path,
      XDG_DATA_HOME: join(folder, 'data'),
      XDG_CONFIG_HOME: join(folder, 'config')
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  child.stdout.pipe(report.parser())
  return { child, code: once(child, 'close').then(([code, signal]) => code ?? signal) }
}

function stop (signal) {
  for (const { child } of running) child.kill(signal)
  rmSync(folder, { recursive: true, force: true })
  process.exit(1)
}

/** Prints the coverage; true when it is at least what .taprc asks for. The gate is for the fast tier: some of its files cannot reach it. */
async function checkCoverage () {
  const reporter = spawn(process.execPath, ['node_modules/tap/dist/esm/run.mjs', 'report', 'text-summary'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(reporter, 'close')
  if (code !== 0) console.log('The coverage is less than .taprc asks for: "npm run coverage" shows the lines that are missing.')
  return code === 0
}

function isFlag (word) {
  return word.startsWith('--')
}
