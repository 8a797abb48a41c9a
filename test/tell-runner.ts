import { connect } from 'node:net'
import t from 'tap'

/** A line of JSON for the runner: how many files a part has, a test of a file that begins or has ended, or what the part prints. */
type Line = { files: string[] } | { begun: string, file: string } | { ended: string, file: string, ms: number, isLast: boolean } | { tap: string }

/**
 * Tells the runner how the tests of this part go while they run: tap itself passes on what a part prints when all of it has ended. Nothing is
 * told when no runner listens. Call it before the test files are loaded.
 */
export function tellRunner (files: string[], path = process.env['TEST_PROGRESS']): void {
  if (path === undefined) return
  // Tests start processes that run tests.
  delete process.env['TEST_PROGRESS']
  const socket = connect(path).unref()
  socket.on('error', () => {})
  const tell = (line: Line): void => { socket.write(`${JSON.stringify(line)}\n`) }
  const fileOf = new WeakMap<object, string>()
  const left = new Map<string, number>()
  const begun = new WeakMap<object, number>()
  noticeTests((test, file) => {
    fileOf.set(test, file)
    left.set(file, (left.get(file) ?? 0) + 1)
  })
  t.beforeEach(test => {
    const file = fileOf.get(test)
    if (file === undefined) return
    begun.set(test, performance.now())
    tell({ begun: test.name, file })
  })
  t.afterEach(test => {
    const file = fileOf.get(test)
    if (file === undefined) return
    left.set(file, (left.get(file) ?? 0) - 1)
    tell({ ended: test.name, file, ms: performance.now() - (begun.get(test) ?? 0), isLast: left.get(file) === 0 })
  })
  t.on('data', (chunk: Buffer | string) => tell({ tap: String(chunk) }))
  tell({ files })
}

/** Calls back with each test on the root, and the file that it is in, when it is added. */
function noticeTests (onTest: (test: object, file: string) => void): void {
  const { test } = t
  const noticing = (...args: Parameters<typeof test>): unknown => {
    const ran = test.apply(t, args)
    if (ran.subtest != null) onTest(ran.subtest, loading ?? sourceOf(ran.subtest.options.at?.fileName ?? ''))
    return ran
  }
  t.test = Object.assign(noticing, test) as unknown as typeof test
}

/** The file that is being loaded: what it shares with others may add its tests. One that waited for a test adds the next ones later. */
let loading: string | undefined

/** Says which file adds tests from now on, until the next call. */
export function noteFile (file: string | undefined): void {
  loading = file
}

function sourceOf (compiled: string): string {
  return compiled.replaceAll('\\', '/').replace(/^.*?(?:build\/)?test\//, 'test/').replace(/js$/, 'ts')
}
