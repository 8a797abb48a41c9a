// Runs the compiled tests. Words after the command choose the files whose path contains one of them; without words the fast tier is run,
// with --slow the other one, and with --all both. With --where FILE it only prints which test files reach that product file.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from '../scripts/test-setup.mjs'
import { Report } from './run/report.mjs'
import { where } from './where.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** How many processes share the files: most of them wait most of the time. */
const PARTS = 4

const [flags, words] = [process.argv.slice(2).filter(isFlag), process.argv.slice(2).filter(word => !isFlag(word))]
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
// What gateways under test keep is not put among the user's own.
const folder = mkdtempSync(join(tmpdir(), 'patchbay-tests-'))
const report = new Report(join(folder, 'progress'))

prepare()

const tap = spawn(process.execPath, ['node_modules/tap/dist/esm/run.mjs', 'run', '--reporter=tap', `--jobs=${parts}`, ...coverage(), ...partFiles()], {
  cwd: ROOT,
  env: { ...process.env, TEST_FILES: words.join(' '), TEST_TIER: tier, TEST_PARTS: String(parts), TEST_PROGRESS: report.path, XDG_DATA_HOME: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit']
})
tap.stdout.pipe(report.parser())
tap.on('close', code => {
  const succeeded = report.end(code ?? tap.signalCode)
  rmSync(folder, { recursive: true, force: true })
  if (flags.includes('--times')) report.printTimes()
  if (tier === 'fast') report.printLeftOut(files.filter(file => file.includes('.slow.test.')))
  report.printTotals()
  process.exitCode = succeeded ? 0 : 1
})

/** The gate is for the fast tier; some of its files cannot reach what .taprc asks of all. */
function coverage () {
  return tier === 'fast' ? [] : ['--disable-coverage']
}

function partFiles () {
  return Array.from({ length: parts }, (_, index) => `build/test/parts/${index + 1}.js`)
}

function isFlag (word) {
  return word.startsWith('--')
}
