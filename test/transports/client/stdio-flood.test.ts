import { PassThrough } from 'node:stream'
import { setImmediate as setImmediatePromise } from 'node:timers/promises'
import t from 'tap'
import { encodeNotification, encodeResult } from '../../../protocol/wire/jsonrpc.js'
import { LIMITS } from '../../../protocol/wire/limits.js'
import { childEnvironment } from '../../../system/programs/server/child-environment.js'
import { startServer } from '../../../system/programs/server/start-server.js'
import { ReplyBudget } from '../../../transports/client/reply-budget.js'
import { openStdioLink } from '../../../transports/client/stdio.js'
import { bestTime } from '../../support/timing.js'
import { until } from '../../support/wait.js'
import { LinkRecorder } from './link-recorder.js'

function open (): { recorder: LinkRecorder, stdout: PassThrough, noise: string[] } {
  const [recorder, stdout, noise] = [
    new LinkRecorder(),
    new PassThrough({ highWaterMark: 1024 * 1024 }),
    new Array<string>()
  ]
  const child = {
    stdin: new PassThrough().resume(),
    stdout,
    ended: new Promise<string>(() => {}),
    stop: async () => {}
  }
  void recorder.dial(async events =>
    openStdioLink(child, events, {
      maxMessage: 65_536,
      maxQueue: 1024 * 1024,
      limits: LIMITS,
      listLimits: LIMITS,
      replies: new ReplyBudget(Infinity, Infinity),
      maxUnasked: 20_000,
      onNoise: line => {
        noise.push(line.toString())
      }
    })
  )
  return { recorder, stdout, noise }
}

const floods: Record<string, string> = {
  noise: 'starting\n',
  notifications: `${encodeNotification('notifications/tools/list_changed')}\n`,
  'responses that no request asked for': `${encodeResult(99, '{}')}\n`
}

for (const [what, line] of Object.entries(floods)) {
  t.test(`a child that floods its standard output with ${what} is slowed down, and loses nothing`, async t => {
    const { stdout, noise } = open()
    stdout.write(line.repeat(4_000))
    await until(() => stdout.isPaused(), 'the pause')
    stdout.write('the end\n')
    await setImmediatePromise()
    t.notOk(noise.includes('the end'), 'it is not read yet')
    await until(() => noise.includes('the end'), 'the next window')
  })
}

for (const line of ['x', '{}', '[]', '', ' ', encodeNotification('notifications/tools/list_changed')]) {
  t.test(
    `a chunk of ${line.trim() === '' ? 'blank lines' : line} is worked off in several turns, and what follows is not lost`,
    async t => {
      const { recorder, stdout, noise } = open()
      let turns = 0
      const count = (): void => {
        turns++
        immediate = setImmediate(count)
      }
      let immediate = setImmediate(count)
      t.teardown(() => clearImmediate(immediate))
      await setImmediatePromise()
      const before = turns
      stdout.write(`${`${line}\n`.repeat(2_000)}${line.trim() === '' ? `${line}\n`.repeat(60_000) : ''}the end\n`)
      await until(() => noise.includes('the end'))
      t.ok(turns - before >= 5, `${turns - before} turns`)
      t.equal(noise.length + recorder.reports.empty().length, line.trim() === '' ? 1 : 2_001)
    }
  )
}

t.test('a line over the limit slows its child down while it is skipped', async t => {
  const { stdout, noise } = open()
  stdout.write('x'.repeat(70_000))
  for (let count = 0; count < 100; count++) stdout.write('x'.repeat(65_536))
  await until(() => stdout.isPaused(), 'the pause')
  stdout.write('\nthe end\n')
  await until(() => noise.includes('the end'))
})

t.test('responses that were asked for slow nothing down', async t => {
  const { recorder, stdout, noise } = open()
  await setImmediatePromise()
  for (let id = 1; id <= 2_000; id++) recorder.asked.add(id)
  stdout.write(Array.from({ length: 2_000 }, (_, index) => `${encodeResult(index + 1, '{}')}\n`).join(''))
  stdout.write('the end\n')
  await until(() => noise.includes('the end'))
  t.notOk(stdout.isPaused())
})

t.test(
  'a child that ignores signals is killed in time, also by a process that is busy',
  { skip: process.platform === 'win32' && 'Windows has no signals to ignore' },
  async t => {
    const took = await bestTime(
      4_000,
      async () => {
        const child = await startServer({
          command: 'sh',
          args: ['-c', 'trap "" TERM; echo up; while :; do sleep 1; done'],
          cwd: undefined,
          env: childEnvironment(),
          stopStep: () => 500,
          onError: () => {}
        })
        await new Promise(resolve => {
          child.stdout.once('data', resolve)
        })
        const timer = setInterval(blockLoop, 1)
        const begun = performance.now()
        await child.stop()
        clearInterval(timer)
        return performance.now() - begun
      },
      3
    )
    t.ok(took < 4_000, `it took ${Math.round(took)} ms`)
  }
)

/** Takes a quarter of a second. */
function blockLoop (): void {
  for (const end = performance.now() + 250; performance.now() < end;);
}
