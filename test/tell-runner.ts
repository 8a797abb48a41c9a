import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t from 'tap'

/** A line of JSON for the runner: the files of a part, or a test of a file that begins or has ended. */
type Line =
  | { files: string[] }
  | { begun: string, file: string }
  | { ended: string, file: string, ms: number, cpu: number, isLast: boolean }

/**
 * Tells the runner which files this part has, and which of them runs. Nothing is told when no runner listens. Call it
 * before the test files are loaded.
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
  const begun = new WeakMap<object, { at: number, cpu: number }>()
  noticeTests((test, file) => {
    fileOf.set(test, file)
    left.set(file, (left.get(file) ?? 0) + 1)
  })
  t.beforeEach(test => {
    const file = fileOf.get(test)
    if (file === undefined) return
    begun.set(test, { at: performance.now(), cpu: cpuTime() })
    tell({ begun: test.name, file })
  })
  t.afterEach(test => {
    const file = fileOf.get(test)
    if (file === undefined) return
    left.set(file, (left.get(file) ?? 0) - 1)
    const { at, cpu } = begun.get(test) ?? { at: 0, cpu: 0 }
    tell({ ended: test.name, file, ms: performance.now() - at, cpu: cpuTime() - cpu, isLast: left.get(file) === 0 })
  })
  tell({ files })
}

/**
 * The time of the processor in milliseconds that this process has used, on Linux with those that it started and that
 * have ended.
 */
function cpuTime (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + (process.platform === 'linux' ? childrenTime() : 0)
}

/** By proc(5), in ticks of 10 ms: `cutime` and `cstime` follow the name, which is in parentheses, after 13 fields. */
function childrenTime (): number {
  const [user = 0, system = 0] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(13, 15)
    .map(Number)
  return 10 * (user + system)
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

/**
 * The file that is being loaded: what it shares with others may add its tests. One that waited for a test adds the next
 * ones later.
 */
let loading: string | undefined

/** Says which file adds tests from now on, until the next call. */
export function noteFile (file: string | undefined): void {
  loading = file
}

function sourceOf (compiled: string): string {
  return compiled.replaceAll('\\', '/').replace(/^.*?(?:build\/)?test\//, 'test/').replace(/js$/, 'ts')
}
