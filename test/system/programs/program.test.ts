import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { environment, runProgram, type ProgramResult } from '../../../system/programs/program.js'
import { bestTime } from '../../support/timing.js'
import { until, within } from '../../support/wait.js'
import { forked, FORKS, isAlive, scripts } from '../../support/environment/scripts.js'

const never = new AbortController().signal

interface Given {
  args?: string[]
  timeout?: number
  signal?: AbortSignal
  onOutput?: (bytes: number, text: string) => void
}

const run = async (
  folder: string,
  name: string,
  { args = [], timeout = 10_000, signal = never, onOutput = () => {} }: Given = {}
): Promise<ProgramResult> =>
  await within(
    60_000,
    async () => await runProgram({ path: join(folder, name), args, folder, timeout }, { signal, onOutput })
  )

async function areGone (t: Test, pids: number[]): Promise<void> {
  t.ok(pids.length > 1 && pids.every(pid => pid > 1), `${pids.length} processes were there`)
  await until(() => !pids.some(isAlive))
}

t.test('a program gets its arguments and its folder, and its output and exit code come back', async t => {
  const path = await scripts(t, { it: 'echo "$1:$2"; pwd; echo oops >&2' })
  t.strictSame(await run(path, 'it', { args: ['a b', '*'] }), {
    exitCode: 0,
    signal: null,
    stdout: `a b:*\n${path}\n`,
    stderr: 'oops\n',
    truncated: false
  })
})

t.test('a failure gives its reason', async t => {
  const path = await scripts(t, { fails: 'echo no >&2; exit 3', dies: 'kill -TERM $$', locked: '', long: '' })
  t.match(await run(path, 'fails'), { exitCode: 3, signal: null, stderr: 'no\n', failure: 'exit code 3' })
  t.match(await run(path, 'dies'), { exitCode: null, signal: 'SIGTERM', failure: 'signal SIGTERM' })
  await chmod(join(path, 'locked'), 0o644)
  t.strictSame(await run(path, 'locked'), {
    exitCode: null,
    signal: null,
    failure: 'permission denied',
    stdout: '',
    stderr: '',
    truncated: false
  })
  t.match(await run(path, 'nowhere'), { exitCode: null, failure: /is not there/ })
  t.match(await run(path, 'long', { args: ['x'.repeat(4_000_000)] }), {
    exitCode: null,
    failure: 'the arguments are too long'
  })
})

t.test('no variable of the environment of the gateway reaches a program', async t => {
  const { NODE_V8_COVERAGE: coverage = '' } = process.env
  t.teardown(() => {
    delete process.env['CANARY']
    delete process.env['NODE_V8_COVERAGE']
    if (coverage !== '') process.env['NODE_V8_COVERAGE'] = coverage
  })
  Object.assign(process.env, { CANARY: 'secret', NODE_V8_COVERAGE: coverage === '' ? '/nowhere' : coverage })
  const { stdout } = await runProgram(
    { path: '/usr/bin/env', args: ['-0'], folder: '/', timeout: 10_000 },
    { signal: never, onOutput: () => {} }
  )
  // tap adds some of its own to every process that is started in a test.
  const seen = stdout.split('\0').filter(line => line !== '' && !/^(_?TAP|NODE_OPTIONS=)/.test(line))
  t.strictSame(seen.sort(), ['HOME=/', 'LANG=C.UTF-8', 'PATH=/usr/local/bin:/usr/bin:/bin'])
  const inherited = (await promisify(execFile)('/usr/bin/env', { env: { ...process.env } })).stdout
  t.match(inherited, /^CANARY=secret$/m, 'it was there to be inherited')
  t.match(inherited, /^NODE_V8_COVERAGE=/m)
})

t.test('a program on Windows gets the folder of Windows in its environment', async t => {
  t.match(environment('C:\\x', 'win32', { SystemRoot: 'D:\\Win', SECRET: 'x' }), {
    PATH: 'D:\\Win\\System32;D:\\Win',
    SystemRoot: 'D:\\Win',
    HOME: 'C:\\x'
  })
  t.notHas(environment('C:\\x', 'win32', { SECRET: 'x' }), { SECRET: 'x' })
})

t.test('the standard input of a program is empty', async t => {
  t.match(await run(await scripts(t, { it: 'cat; echo over' }), 'it'), { stdout: 'over\n' })
})

t.test('a program that takes too long is killed with everything it started', async t => {
  const path = await scripts(t, { it: `echo begun; ${FORKS}; sleep 600` })
  const outcome = run(path, 'it', { timeout: 2_000 })
  const pids = await forked(path)
  t.ok(pids.every(isAlive), 'they run')
  t.match(await outcome, { exitCode: null, signal: 'SIGKILL', stdout: 'begun\n', failure: 'timed out after 2000 ms' })
  await areGone(t, pids)
})

t.test('a program that is cancelled is killed with everything it started, at once', async t => {
  const took = await bestTime(2_000, async () => {
    const path = await scripts(t, { it: `${FORKS}; sleep 600` })
    const controller = new AbortController()
    const outcome = run(path, 'it', { signal: controller.signal })
    const pids = await forked(path)
    const since = Date.now()
    controller.abort(new Error('enough'))
    await t.rejects(outcome, { message: 'enough' })
    const took = Date.now() - since
    await areGone(t, pids)
    return took
  })
  t.ok(took < 2_000, `${took} ms`)
})

t.test('a program that was cancelled before it began is not started', async t => {
  const path = await scripts(t, { it: 'touch ran' })
  await t.rejects(run(path, 'it', { signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  t.notOk((await promisify(execFile)('/bin/ls', [path])).stdout.includes('ran'))
})

t.test('when a program ends, what it left behind is killed and not waited for', async t => {
  const took = await bestTime(5_000, async () => {
    const path = await scripts(t, { it: `${FORKS}; echo done` })
    const since = Date.now()
    t.match(await run(path, 'it'), { exitCode: 0, stdout: 'done\n' })
    const took = Date.now() - since
    await areGone(t, await forked(path))
    return took
  })
  t.ok(took < 5_000, `${took} ms`)
})

t.test(
  'a process that left the group and holds the pipes is not waited for',
  { skip: process.platform !== 'linux' && 'setsid is of Linux' },
  async t => {
    const path = await scripts(t, {
      it: "echo begun; setsid sh -c 'echo $$ > out.pid; exec sleep 600' & while [ ! -s out.pid ]; do sleep 0.01; done; cat out.pid"
    })
    const { stdout, exitCode } = await run(path, 'it')
    const [begun, pid] = stdout.split('\n')
    t.teardown(() => {
      process.kill(Number(pid), 'SIGKILL')
    })
    t.equal(begun, 'begun')
    t.equal(exitCode, 0)
    t.ok(isAlive(Number(pid)), 'it still holds them')
  }
)

t.test('programs do not survive the process that runs them', async t => {
  const path = await scripts(t, { it: `${FORKS}; sleep 600` })
  const program = new URL('../../../system/programs/program.js', import.meta.url).href
  const source = `import { existsSync } from 'node:fs'
    import { runProgram } from ${JSON.stringify(program)}
    void runProgram({ path: './it', args: [], folder: process.cwd(), timeout: 60000 }, { signal: new AbortController().signal, onOutput: () => {} })
    setInterval(() => { if (existsSync('forked')) process.exit(7) }, 10)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { cwd: path, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  t.strictSame(await within(60_000, async signal => await once(child, 'exit', { signal })), [7, null])
  await areGone(t, await forked(path))
})

t.test('output beyond the limit is left out, and the program goes on', async t => {
  const path = await scripts(t, {
    it: 'head -c 200000 /dev/zero; head -c 300000 /dev/zero >&2; touch finished; exit 0'
  })
  const { stdout, stderr, truncated, exitCode } = await run(path, 'it')
  t.strictSame([stdout.length + stderr.length, truncated, exitCode], [256 * 1024, true, 0])
  t.ok((await promisify(execFile)('/bin/ls', [path])).stdout.includes('finished'))
})

t.test('output is reported as it is written', async t => {
  const path = await scripts(t, {
    it: 'printf "h\\303"; sleep 0.2; printf "\\266he"; while [ ! -f go ]; do sleep 0.01; done; echo !'
  })
  const reported: Array<[number, string]> = []
  const outcome = run(path, 'it', { onOutput: (bytes, text) => { reported.push([bytes, text]) } })
  await until(() => reported.map(([, text]) => text).join('') === 'höhe')
  await promisify(execFile)('/usr/bin/touch', [join(path, 'go')])
  t.match(await outcome, { stdout: 'höhe!\n' })
  t.strictSame([reported[0], reported.at(-1)], [[2, 'h'], [7, '!\n']], 'half a character waits for its other half')
})
