import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { measureThisProcessOnly } from './support/coverage.js'
import { rememberAllTimers, rememberTimers, timersAwake } from './support/timers-awake.js'

/** In milliseconds, for a test or for one step of it, if it has tests of its own. */
const TEST_TIMEOUT = 120_000
const EXIT_TIMEOUT = 10_000

/** Tests that are made of others. */
const outers = new WeakSet<Test>()

let loading = true
let awake: NodeJS.Timeout | undefined

/** Runs one of several equal parts of the test files. Starting a process costs far more than a test does, so the files of a part share one. */
export async function runPart (part: number, parts = Number(process.env['TEST_PARTS'] ?? 2)): Promise<void> {
  awake = setInterval(() => {}, TEST_TIMEOUT)
  rememberTimers(EXIT_TIMEOUT)
  measureThisProcessOnly()
  t.beforeEach(t => {
    if (t.options.timeout === undefined) t.setTimeout(TEST_TIMEOUT)
    startOutersAnew(t)
    endOnce(t)
  })
  t.afterEach(startOutersAnew)
  t.on('complete', finish)
  // tap's own teardown ends the whole run at the first idle moment, which here may come between two files.
  t.teardown = t.after
  // A file that is being compiled blocks the event loop, and tests that measure time with it.
  const { promise, resolve } = loadingEnd()
  t.before(async () => await promise)
  // Neighbours are often alike, so each part gets some of them.
  for (const file of testFiles().filter((_, index) => index % parts === part)) await load(file)
  loading = false
  resolve()
  t.end()
}

function loadingEnd (): { promise: Promise<void>, resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(_resolve => { resolve = _resolve })
  return { promise, resolve }
}

async function load (file: string): Promise<void> {
  try {
    await import(new URL(file, import.meta.url).href)
  } catch (error) {
    t.test(`${sourceOf(file)} loads`, async () => { throw error })
  }
}

function testFiles (): string[] {
  const words = (process.env['TEST_FILES'] ?? '').split(' ')
  return readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.js') && !/^(conformance|types)\b/.test(file))
    .filter(file => words.some(word => sourceOf(file).includes(word)))
    .sort()
}

function sourceOf (file: string): string {
  return `test/${file.replaceAll('\\', '/').replace(/js$/, 'ts')}`
}

// The limit is for a test that hangs, so what a test is made of begins it anew: a whole of a hundred steps may take longer than one.
function startOutersAnew (inner: Test): void {
  for (let outer = inner.parent; outer !== undefined && outer !== t; outer = outer.parent) {
    outers.add(outer as Test)
    if (outer.options.timeout !== undefined) outer.setTimeout(outer.options.timeout)
  }
}

// Without this, a test that comes back after its timeout ends a second time, and with it whatever test runs by then.
function endOnce (t: Test): void {
  const main = t.main
  t.main = end => {
    let ended = false
    main.call(t, () => {
      // At its end, tap compares how long it took in all.
      if (!ended && outers.has(t)) t.setTimeout(0)
      if (!ended) end()
      ended = true
    })
  }
}

function finish (): void {
  clearInterval(awake)
  rememberAllTimers()
  if (loading) giveUp('A test file ended the run before all files were loaded: did it call plan or end on the root test?')
  setTimeout(() => giveUp(`The tests are over, but the process stays alive: ${[...process.getActiveResourcesInfo(), ...timersAwake()].join('\n')}`), EXIT_TIMEOUT).unref()
}

function giveUp (why: string): never {
  console.error(why)
  process.exit(1)
}
