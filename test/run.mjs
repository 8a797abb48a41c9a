// Runs the compiled tests; words after the command choose the files whose path contains one of them.
// With --where FILE it only prints which test files reach that product file.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { Parser } from 'tap-parser'
import { prepare } from '../scripts/test-setup.mjs'
import { where } from './where.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const words = process.argv.slice(2)
if (words[0] === '--where') {
  console.log(where(ROOT, words[1] ?? ''))
  process.exit()
}

const files = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).map(file => `test/${file.replaceAll('\\', '/')}`).filter(file => file.endsWith('.test.ts'))
const idle = words.filter(word => !files.some(file => file.includes(word)))
if (idle.length > 0) {
  console.log(`No test file has ${idle.map(word => `"${word}"`).join(' or ')} in its path. "npm test -- --where FILE" prints the tests of a product file.`)
  process.exit(1)
}

const begun = performance.now()
// What gateways under test keep is not put among the user's own.
const data = mkdtempSync(join(tmpdir(), 'patchbay-data-'))
const count = { passed: 0, failed: 0, skipped: 0 }

prepare()

const tap = spawn(process.execPath, ['node_modules/tap/dist/esm/run.mjs', ...options()], {
  cwd: ROOT,
  env: { ...process.env, TEST_FILES: words.join(' '), XDG_DATA_HOME: data, ...(words.length > 0 ? { TEST_PARTS: '1' } : {}) },
  stdio: ['ignore', 'pipe', 'inherit']
})
tap.stdout.pipe(reporter())
let latest = ''
const progress = setInterval(() => console.log(`… ${duration(performance.now() - begun)}: ${totals()}${latest === '' ? '' : `; the latest: ${latest}`}`), words.length > 0 ? 10_000 : 60_000)
tap.on('close', code => {
  clearInterval(progress)
  rmSync(data, { recursive: true, force: true })
  const ran = count.passed + count.failed > 0
  if (!ran) console.log('No tests ran.')
  else if (code !== 0 && count.failed === 0) console.log(`No test failed, but tap ended with ${code ?? tap.signalCode}.`)
  console.log(`The tests took ${duration(performance.now() - begun)}.`)
  console.log(totals())
  process.exitCode = ran && code === 0 && count.failed === 0 ? 0 : 1
})

// Some of the tests cannot reach the coverage that .taprc asks of all, and one process is enough for them.
function options () {
  return ['run', '--reporter=tap', ...(words.length > 0 ? ['--disable-coverage', 'build/test/parts/first.js'] : [])]
}

function reporter () {
  const parser = new Parser()
  parser.on('pass', ({ fullname }) => {
    count.passed++
    latest = title(fullname)
  })
  parser.on('fail', fail)
  parser.on('skip', result => skip(result, result.skip))
  parser.on('todo', result => skip(result, result.todo))
  parser.on('comment', text => { if (text.startsWith('# ERROR')) process.stdout.write(text) })
  parser.on('extra', text => process.stdout.write(text))
  return parser
}

function skip ({ fullname }, why) {
  count.skipped++
  console.log(`- ${title(fullname)}${why === true ? '' : ` (${why})`}`)
}

function fail ({ fullname, diag }) {
  count.failed++
  const { at, source, diff, stack, command, args, cwd, stdio, externalID, ...rest } = diag ?? {}
  const place = at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}`
  const details = [place, source, diff, stack, Object.keys(rest).length > 0 && inspect(rest, { depth: 8 })]
  console.log(`\n✖ ${title(fullname)}\n${indent(details.filter(Boolean).join('\n'))}\n`)
}

function title (fullname) {
  return fullname.replace(/^build\/test\/parts\/\w+\.js > /, '')
}

function indent (text) {
  return text.replace(/^(?=.)/gm, '    ')
}

function duration (ms) {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

function totals () {
  const { passed, failed, skipped } = count
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
