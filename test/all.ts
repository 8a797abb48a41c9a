import { failByUncaughtErrors } from './support/uncaught.js'
import { readdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { measureCoverage } from './support/coverage.js'
import { noteFile, tellRunner } from './tell-runner.js'
import { rememberAllTimers, rememberTimers, timersAwake } from './support/timers-awake.js'

/** In milliseconds, for a test or for one step of it, if it has tests of its own. */
const TEST_TIMEOUT = Number(process.env['TEST_TIMEOUT'] ?? 120_000)
const EXIT_TIMEOUT = 10_000
/** With this, a timer that keeps the process alive is named. It takes a tenth of the time of all tests. */
const NAMES_TIMERS = process.env['TEST_TIMERS'] === 'yes'

/** Where the test files are; a test of this file has its own. */
const FOLDER =
  process.env['TEST_FOLDER'] === undefined
    ? new URL('.', import.meta.url)
    : pathToFileURL(`${process.env['TEST_FOLDER']}/`)

/** Tests that are made of others. */
const outers = new WeakSet<Test>()

let loading = true
let awake: NodeJS.Timeout | undefined

/**
 * Runs one of several equal parts of the test files. Starting a process costs far more than a test does, so the files
 * of a part share one.
 */
export async function runPart (part: number, parts = Number(process.env['TEST_PARTS'] ?? 5)): Promise<void> {
  awake = setInterval(() => {}, TEST_TIMEOUT)
  if (NAMES_TIMERS) rememberTimers(EXIT_TIMEOUT)
  const { TEST_COVERAGE: coverage } = process.env
  if (coverage !== undefined) measureCoverage(coverage)
  // Tests start processes that run tests.
  delete process.env['TEST_COVERAGE']
  failByUncaughtErrors(t)
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
  const begin = deferred()
  t.before(async () => await begin.promise)
  // Neighbours are often alike, so each part gets some of them.
  const files = testFiles().filter((_, index) => index % parts === part)
  tellRunner(files.map(sourceOf))
  for (const file of files) await load(file)
  loading = false
  begin.resolve()
  await finished()
  t.end()
}

interface Deferred { promise: Promise<void>, resolve: () => void }

function deferred (): Deferred {
  let resolve = () => {}
  const promise = new Promise<void>(_resolve => { resolve = _resolve })
  return { promise, resolve }
}

/** The files that wait for one of their own tests, and go on when it has run. */
const waiting = new Map<string, Promise<void>>()

/** Settles when the file is loaded, or when it waits for a test, since tests begin after all files. */
async function load (file: string): Promise<void> {
  const waits = deferred()
  noteFile(sourceOf(file))
  const restore = noticeWaiting(waits.resolve)
  const imported = import(new URL(file, FOLDER).href).then(
    () => {},
    error => {
      t.test(`${sourceOf(file)} loads`, async () => {
        throw error
      })
    }
  )
  waiting.set(file, imported.finally(() => waiting.delete(file)))
  const timer = setTimeout(
    () =>
      giveUp(
        `${sourceOf(file)} is not loaded: it waits at its top level for something that does not happen before the tests begin`
      ),
    TEST_TIMEOUT
  )
  await Promise.race([imported, waits.promise])
  clearTimeout(timer)
  restore()
  noteFile(undefined)
}

/**
 * Calls back when a file uses the promise of a test on the root, as `await t.test(…)` does. Returns how to end that.
 */
function noticeWaiting (onWait: () => void): () => void {
  const { test } = t
  const noticing = (...args: Parameters<typeof test>): unknown => {
    const ran = test.apply(t, args)
    // Not a promise itself: of these, `await` does not call the method.
    const then: typeof ran.then = (onDone, onFail) => {
      onWait()
      return ran.then(onDone, onFail)
    }
    return {
      subtest: ran.subtest,
      then,
      catch: (onFail: () => void) => then(undefined, onFail),
      finally: (callback: () => void) => then().finally(callback)
    }
  }
  t.test = Object.assign(noticing, test) as unknown as typeof test
  return () => { t.test = test }
}

/** Settles when no file waits any more. One that waits while no test runs waits for something else. */
async function finished (): Promise<void> {
  let idleSince: number | undefined
  const timer = setInterval(() => {
    idleSince = t.occupied || waiting.size === 0 ? undefined : idleSince ?? performance.now()
    if (idleSince !== undefined && performance.now() - idleSince > TEST_TIMEOUT) {
      giveUp(
        `${[...waiting.keys()].map(sourceOf).join(', ')}: the tests are over, and the file still waits at its top level`
      )
    }
  }, TEST_TIMEOUT / 10)
  while (waiting.size > 0) await Promise.all(waiting.values())
  clearInterval(timer)
}

function testFiles (): string[] {
  const words = (process.env['TEST_FILES'] ?? '').split(' ')
  const tier = process.env['TEST_TIER'] ?? 'all'
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.js') && !/^(conformance|types)\b/.test(file))
    .filter(file => tier === 'all' || file.endsWith('.slow.test.js') === (tier === 'slow'))
    .filter(file => words.some(word => sourceOf(file).includes(word)))
    .sort()
}

function sourceOf (file: string): string {
  return `test/${file.replaceAll('\\', '/').replace(/js$/, 'ts')}`
}

// The limit is for a test that hangs, so what a test is made of begins it anew: a whole of a hundred steps may take
// longer than one.
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
  if (loading) {
    giveUp('A test file ended the run before all files were loaded: did it call plan or end on the root test?')
  }
  setTimeout(
    () =>
      giveUp(
        `The tests are over, but the process stays alive: ${[...process.getActiveResourcesInfo(), ...timersAwake()].join('\n')}${NAMES_TIMERS ? '' : '\nTEST_TIMERS=yes names the timers.'}`
      ),
    EXIT_TIMEOUT
  ).unref()
}

function giveUp (why: string): never {
  console.error(why)
  process.exit(1)
}
