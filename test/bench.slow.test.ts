import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { overHttp, overStdio, overWebSocket } from '../bench/load/transports.js'
import { HttpWire } from '../bench/load/http-wire.js'
import { Load } from '../bench/load/load.js'
import { LiveSession } from '../bench/load/live-session.js'
import { echo, LEGACY, listTools, MODERN, type Ask } from '../bench/load/messages.js'
import { endSessions, openSessions } from '../bench/load/sessions.js'
import { parseGoal, verdictOf, type Finding } from '../bench/measure/goal.js'
import { cpuTime, isMeasurable, memory } from '../bench/measure/process.js'
import type { Runner } from '../bench/measure/race.js'
import { comparisons, inRounds, otherBuilds } from '../bench/measure/rounds.js'
import { inWords, median, pairedRatioOf, ratioOf, spreadOf } from '../bench/measure/statistics.js'
import { commandCounts } from '../bench/questions/nodes/commands.js'
import { answerDelayAt, eventDelay } from '../bench/questions/nodes/latency.js'
import { summary, table } from '../bench/report.js'
import { withResults } from '../bench/save.js'
import {
  bareBatches,
  bareBytes,
  bareFastify,
  bareStdio,
  bareWebSocket,
  patchbay,
  patchbayStdio,
  ROOT
} from '../bench/servers/catalogue.js'
import { withCluster } from '../bench/servers/nodes.js'
import type { Server, ServerProcess } from '../bench/servers/process.js'
import { withRedis as withRedisServer } from './support/environment/redis-server.js'
import { folder } from './support/process.js'

const linux = { skip: !isMeasurable && 'CPU time comes from /proc' }
const CALLS = 50
const finding = (goal: string, ours: number, peers: Finding['peers'] = []): Finding => ({
  what: goal,
  goal,
  ours: spreadOf([ours]),
  limit: '-',
  peers
})

t.test('a median is the middle, or lies between the two of them', async t => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([4, 1, 3, 100]), 3.5)
  t.equal(median([7]), 7)
  t.equal(inWords(spreadOf([0.5, 0.25, 1])), '0.50 [0.25..1.00]')
})

t.test('a slow round does not change a ratio', async t => {
  t.strictSame(ratioOf([50, 25, 5], [100, 50, 10]), { median: 0.5, min: 0.5, max: 0.5 })
  const ratios = Array.from({ length: 100 }, (_, pair) => pair < 5 ? 0.1 : pair > 94 ? 9 : 1 + pair / 1_000)
  const { min, median: middle, max } = pairedRatioOf(ratios, ratios.map(() => 1))
  t.ok(min > 1 && min < middle && middle < max && max < 1.1, 'pairs that something disturbed do not count')
})

t.test('all peers are measured in each round, and one that fails is left out and reported', async t => {
  const [order, complaints]: [string[], string[]] = [[], []]
  const contestant = (name: string, peer = false) => ({
    server: { name, args: () => [], ...(peer ? { peer } : {}) } as Server,
    sample: async () => {
      order.push(name)
      if (name === 'broken' && order.length > 3) throw new Error('no answer')
      return 1
    }
  })
  const setting = { rounds: 2, peers: true, say: () => {}, complain: (line: string) => complaints.push(line) }
  const samples = await inRounds([contestant('limit'), contestant('ours'), contestant('broken', true)], 2, setting)
  t.strictSame(order, ['limit', 'ours', 'broken', 'ours', 'broken', 'limit'])
  t.strictSame([...samples].map(([{ name }, values]) => [name, values.length]), [['limit', 2], ['ours', 2]])
  t.strictSame(complaints, ['broken failed: no answer'])
  await t.rejects(
    inRounds(
      [
        {
          ...contestant('ours'),
          sample: async () => {
            throw new Error('wrong answer')
          }
        }
      ],
      1,
      setting
    ),
    /wrong answer/
  )
})

t.test('another checkout is started in the same way, and compared round by round', async t => {
  const setting = { rounds: 1, peers: false, say: () => {}, complain: () => {} }
  const place = { port: 1, data: 'data' }
  t.strictSame(otherBuilds(patchbay, setting), [])
  const [other] = otherBuilds(patchbay, { ...setting, against: '/elsewhere/before' }) as [Server]
  t.strictSame(other.args(place), ['/elsewhere/before/dist/cli.js', ...patchbay.args(place).slice(1)])
  const [row] = comparisons('a call', new Map([[patchbay, [100, 80]], [other, [50, 20]]]), patchbay, [other], '/s')
  t.match(row, { what: 'a call, this / before', ours: { median: 3, min: 2, max: 4 }, limit: '35.0/s' })
})

t.test('goals', async t => {
  t.strictSame(parseGoal('≥ 0.85 of bare Fastify'), { atLeast: 0.85 })
  t.strictSame(parseGoal('≤ 4 KiB'), { atMost: 4 })
  t.throws(() => parseGoal('fast'), /is no goal/)
  const sdk = [{ name: 'SDK v1', figure: spreadOf([2]) }]
  const findings = [
    finding('≥ 0.85 of it', 0.85),
    finding('≥ 0.85 of it', 0.84),
    finding('≤ 3.0 ×, and below SDK v1', 2.5, sdk),
    finding('≤ 3.0 ×, and below SDK v1', 1.5, sdk)
  ]
  t.strictSame(findings.map(verdictOf), ['met', 'NOT MET', 'NOT MET', 'met'])
  t.equal(summary([...findings, { what: 'more', ours: spreadOf([1]), limit: '-', peers: [] }]), '2 of 4 goals met')
  t.match(table(findings).split('\n')[3], /^\| ≥ 0.85 of it +\| ≥ 0.85 of it +\| 0.84 +\| - +\| - +\| NOT MET \|$/)

  t.test('a goal is unclear when the rounds lie on both sides of it', async t => {
    const rounds = (goal: string, ...values: number[]): Finding => ({ ...finding(goal, 0), ours: spreadOf(values) })
    const findings = [
      rounds('≥ 0.85 of it', 0.84, 0.9, 0.95),
      rounds('≤ 4 KiB', 3, 3, 5),
      rounds('≤ 4 KiB', 5, 6),
      rounds('≥ 0.85 of it', 0.85, 0.9)
    ]
    t.strictSame(findings.map(verdictOf), ['unclear', 'unclear', 'NOT MET', 'met'])
    t.equal(summary(findings), '1 of 4 goals met, 2 unclear')
  })

  t.test('every goal of a question can be judged', async t => {
    const files = readdirSync(join(ROOT, 'bench/questions'), { recursive: true, encoding: 'utf8' }).filter(file =>
      file.endsWith('.ts')
    )
    const sources = files.map(file => readFileSync(join(ROOT, 'bench/questions', file), 'utf8'))
    const goals = sources.flatMap(text =>
      [...text.matchAll(/(?:goal|arm64|x64)(?:: | = )['`]([^'`]+)/g)].map(([, goal]) => goal as string)
    )
    t.ok(goals.length > 10)
    for (const goal of goals) t.doesNotThrow(() => parseGoal(goal), goal)
  })
})

t.test('results are put into their place, and those in the README are those of results.json', async t => {
  const page = withResults(
    'before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n',
    [finding('≥ 1 of it', 2)],
    'here'
  )
  t.match(
    page,
    /^before\n<!-- results -->\nhere\.\n\n\| what [^]*1 of 1 goals met\.\n<!-- end of results -->\nafter\n$/
  )
  t.notMatch(page, 'old')
  const { where, findings } = JSON.parse(readFileSync(join(ROOT, 'bench/results.json'), 'utf8')) as {
    where: string
    findings: Finding[]
  }
  const readme = readFileSync(join(ROOT, 'bench/README.md'), 'utf8')
  t.equal(withResults(readme, findings, where), readme)
})

t.test('each question with a table of its own has a place for it in the README', async t => {
  const readme = readFileSync(join(ROOT, 'bench/README.md'), 'utf8')
  const [, names = ''] = /APART = new Set\(\[([^\]]+)\]/.exec(readFileSync(join(ROOT, 'bench/run.ts'), 'utf8')) ?? []
  const apart = names.split(',').map(name => name.replace(/[' ]/g, ''))
  t.ok(apart.includes('openapi'))
  for (const name of apart) {
    const place = new RegExp(`(<!-- results of ${name} -->\\n)[^]*(<!-- end of results of ${name} -->)`)
    t.match(withResults(readme, [finding('≥ 1 of it', 2)], 'here', place), `<!-- results of ${name} -->\nhere.`, name)
  }
})

t.test('CPU time grows with work, that of children too, and not with waiting', linux, async t => {
  const burn =
    'process.stdin.on("data", () => { const start = process.cpuUsage(); while (process.cpuUsage(start).user + process.cpuUsage(start).system < 150_000); console.log("done") })'
  const shell = spawn('sh', ['-c', `"${process.execPath}" -e '${burn}'; exit 0`])
  t.teardown(() => { shell.stdin.end() })
  const pid = shell.pid as number
  const work = async () => { shell.stdin.write('x\n'); await once(shell.stdout, 'data') }
  await work()
  const idle = cpuTime(pid)
  t.ok(cpuTime(pid) - idle < 20, 'nothing happened')
  await work()
  t.ok(cpuTime(pid) - idle > 20, `${cpuTime(pid) - idle} ms of 150`)
  t.ok(memory(pid) > 20_000)
  shell.stdin.end()
  await once(shell, 'exit')
})

t.test('the limits and Patchbay answer the same questions', linux, async t => {
  const modern = { ask: echo(32), connections: 2, sockets: 2, inFlight: 4, era: MODERN } as const
  const legacy = { ...modern, era: LEGACY } as const
  const [gateway, fastify, websocket] = await Promise.all([
    started(t, overHttp(patchbay, { ...modern, env: { BENCH_TOOLS: '150', PATCHBAY_PAGE_SIZE: '100' } })),
    started(t, overHttp(bareFastify, modern)),
    started(t, overWebSocket(bareWebSocket, modern))
  ])

  for (const shape of [modern, legacy]) {
    t.test(`over HTTP and WebSocket in ${shape.era}`, async t => {
      for (const running of [gateway, fastify]) t.ok(await answered(running, overHttp(patchbay, shape)) >= CALLS)
      for (const running of [gateway, websocket]) t.ok(await answered(running, overWebSocket(patchbay, shape)) >= CALLS)
    })
  }

  t.test('over stdio', async t => {
    const runners = [overStdio(bareStdio, modern), overStdio(bareBatches, legacy), overStdio(patchbayStdio, legacy)]
    await Promise.all(runners.map(async runner => t.ok(await answered(await started(t, runner), runner) >= CALLS)))
  })

  t.test('with 100 KiB', async t => {
    for (const running of [gateway, fastify]) {
      t.ok((await answered(running, overHttp(patchbay, { ...modern, ask: echo(100 * 1024) }))) >= CALLS)
    }
  })

  t.test('a page has as many tools as it may', async t => {
    t.ok(await answered(gateway, overHttp(patchbay, { ...modern, ask: listTools(100) })) >= CALLS)
    await t.rejects(
      answered(gateway, overHttp(patchbay, { ...modern, ask: listTools(101) })),
      /there are 100 tools on a page, and not 101/
    )
  })

  t.test('sessions are opened and ended', async t => {
    const sessions = await openSessions(gateway.port, 40, { confirm: true })
    t.equal(new Set(sessions).size, 40)
    await endSessions(gateway.port, sessions)
    await t.rejects(endSessions(gateway.port, sessions), /refused: HTTP\/1.1 404/)
  })
})

t.test(
  'events and answers are timed, at one node and at two, and commands to Redis counted',
  { skip: linux.skip || withRedisServer.skip },
  async t => {
    await withCluster(async cluster => {
      const { first, second, alone } = cluster
      const [local, shared] = [await LiveSession.open(alone.port), await LiveSession.open(first.port)]
      const ticks = { events: 30, every: 2 }
      t.ok((await eventDelay(local, alone.port, alone.port, ticks)) > 0)
      t.ok((await eventDelay(shared, first.port, first.port, ticks)) > 0)
      t.ok((await eventDelay(shared, first.port, second.port, ticks)) > 0, 'read at another node')
      t.ok((await answerDelayAt(shared, first.port, second.port, 5)) > 0, 'answered at another node')
      await local.end(alone.port)
      await shared.end(second.port)
      const counts = await commandCounts(cluster, {
        rounds: 1,
        peers: false,
        say: () => {},
        complain: line => t.fail(line)
      })
      const goals = counts.filter(({ goal }) => goal !== undefined)
      t.equal(goals.length, 4)
      t.strictSame(
        goals.map(verdictOf),
        goals.map(() => 'met'),
        JSON.stringify(goals)
      )
    })
  }
)

t.test('a wrong answer is noticed, first or later', linux, async t => {
  const right = { jsonrpc: '2.0', id: 100, result: { content: [{ type: 'text', text: 'y'.repeat(32) }] } }
  const data = await folder(t, { 'page.json': JSON.stringify(right) })
  const runner = overHttp(bareBytes(join(data, 'page.json')), { era: MODERN, ask: echo(32), connections: 1 })
  const running = await started(t, runner)
  await t.rejects(runner.open(running), /echo said/)
  let asked = 0
  const laterWrong: Ask = { ...echo(32), check: () => { if (++asked > 1) throw new Error('not this one') } }
  const load = await Load.begin([await HttpWire.open(running.port, MODERN)], MODERN, laterWrong, 1)
  await t.rejects(run(load), /not this one/)
})

async function started (t: Test, runner: Runner): Promise<ServerProcess> {
  const running = await runner.start()
  t.teardown(async () => await running.stop())
  return running
}

/** How many calls were answered rightly; rejects when one was not. */
async function answered (running: ServerProcess, { open }: Runner): Promise<number> {
  const load = await open(running)
  await run(load)
  return load.answered
}

async function run (load: Load): Promise<void> {
  while (load.answered < CALLS && load.fault === undefined) await new Promise(resolve => { setImmediate(resolve) })
  await load.end()
}
