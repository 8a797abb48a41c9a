import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'

const TEST_TIMEOUT = 120_000
const EXIT_TIMEOUT = 10_000

let loading = true
let awake: NodeJS.Timeout | undefined

/** Runs one of several equal parts of the test files. Starting a process costs far more than a test does, so the files of a part share one. */
export async function runPart (part: number, parts = Number(process.env['TEST_PARTS'] ?? 2)): Promise<void> {
  awake = setInterval(() => {}, TEST_TIMEOUT)
  t.beforeEach(t => {
    if (t.options.timeout === undefined) t.setTimeout(TEST_TIMEOUT)
    endOnce(t)
  })
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

// Without this, a test that comes back after its timeout ends a second time, and with it whatever test runs by then.
function endOnce (t: Test): void {
  const main = t.main
  t.main = end => {
    let ended = false
    main.call(t, () => {
      if (!ended) end()
      ended = true
    })
  }
}

function finish (): void {
  clearInterval(awake)
  if (loading) giveUp('A test file ended the run before all files were loaded: did it call plan or end on the root test?')
  setTimeout(() => giveUp(`The tests are over, but the process stays alive: ${process.getActiveResourcesInfo().join(', ')}`), EXIT_TIMEOUT).unref()
}

function giveUp (why: string): never {
  console.error(why)
  process.exit(1)
}
