import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '../support/processes.js'
import { Report } from '../support/report.js'
import { Gateway, temporary } from './gateway.js'
import { scenario } from './scenario.js'
import { shellServer } from './upstream-program.js'

/** How long a call may take in all, in milliseconds: beyond that it has no answer. */
const TIMEOUT = 30_000
/** How long a stopped process stands still, in milliseconds. */
const STILL = 20
/** The first kills are not measured: the heap and the pools of a process grow to their size. */
const WARM_UP = 0.2
const OPTIONS = {
  limits: {
    upstreamRestartDelay: 5,
    upstreamRestartDelayMax: 5,
    maxUpstreamFailures: 1_000_000,
    upstreamStopTimeout: 500
  }
}

interface Answer { text: string | undefined, error: string | undefined, ms: number }

/** Ends the server in one way. */
type Kill = (pid: number, call: (name: string) => Promise<Answer>) => Promise<unknown>

const kills: Record<string, Kill> = {
  SIGKILL: async pid => process.kill(pid, 'SIGKILL'),
  'SIGSTOP, then SIGKILL': async pid => {
    process.kill(pid, 'SIGSTOP')
    await sleep(STILL)
    process.kill(pid, 'SIGKILL')
  },
  'exit in a call': async (_pid, call) => await call('exit'),
  'exit in the middle of an answer': async (_pid, call) => await call('half'),
  SIGTERM: async pid => process.kill(pid, 'SIGTERM')
}

/**
 * Servers behind the gateway that are killed in every way under load: each call is answered, none is sent twice, and
 * nothing is left of them.
 */
export const upstreams = scenario({ kills: 1_000, callers: 16 }, async ({ kills: count, callers }) => {
  const report = new Report(`upstreams: ${count} kills of a server behind the gateway, ${callers} callers`)
  const world = await open()
  const load = new Load(world, callers)
  const before = await harm(report, world, load, count)
  await load.stop()
  await settle(world)
  judge(report, world, load, before)
  const end = await world.gateway.end()
  report.promise(end === 0, `the gateway ends with 0, not ${String(end)}`)
  const left = [...world.pids('victim'), ...world.pids('other')].filter(isRunning)
  report.promise(left.length === 0, `no process is left when the gateway has ended, not ${left.length}`)
  return report
})

interface World { gateway: Gateway, pids: (alias: string) => number[], keys: (alias: string) => string[] }

async function open (): Promise<World> {
  const folders: Record<string, string> = { victim: temporary(), other: temporary() }
  const file = join(temporary(), 'config.json')
  const servers = Object.entries(folders).map(([alias, folder]) => [alias, shellServer(folder, alias === 'victim')])
  writeFileSync(file, JSON.stringify({ ...OPTIONS, mcpServers: Object.fromEntries(servers) as object }))
  const lines = (alias: string, name: string) => {
    const path = join(folders[alias] ?? '', name)
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  }
  const gateway = await Gateway.start({ args: ['--config', file] })
  return { gateway, pids: alias => lines(alias, 'pids').map(Number), keys: alias => lines(alias, 'calls') }
}

async function harm (report: Report, { gateway }: World, load: Load, count: number): Promise<Usage> {
  const ways = Object.entries(kills)
  const done = new Map<string, number>()
  let before = usage(gateway.pid)
  let pid = await load.newServer(0)
  load.begin()
  for (let index = 0; index < count; index++) {
    if (index === Math.ceil(count * WARM_UP)) before = usage(gateway.pid)
    const [name, kill] = ways[index % ways.length] as [string, Kill]
    await kill(pid, async tool => await load.call('victim', tool))
    done.set(name, (done.get(name) ?? 0) + 1)
    pid = await load.newServer(pid)
  }
  for (const [way, times] of done) report.row({ way, times })
  return before
}

/** Calls both servers all the time. */
class Load {
  readonly answers = { result: 0, error: 0, none: 0, wrong: 0 }
  readonly others = { failed: 0, slowest: 0 }
  readonly #world: World
  readonly #callers: number
  #key = 0
  #running: Array<Promise<void>> = []
  #stopped = false

  constructor (world: World, callers: number) {
    this.#world = world
    this.#callers = callers
  }

  begin (): void {
    this.#running = [
      ...Array.from({ length: this.#callers }, async () => await this.#repeat('victim')),
      this.#repeat('other')
    ]
  }

  async stop (): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  /** Waits until another process than that answers; gives its id. */
  async newServer (last: number): Promise<number> {
    for (const end = Date.now() + TIMEOUT; ;) {
      const { text } = await this.call('victim', 'echo')
      const pid = Number(text?.split(' ')[1] ?? last)
      if (pid !== last) return pid
      if (Date.now() > end) throw new Error('the server did not come back')
      await sleep(2)
    }
  }

  async call (alias: string, tool: string): Promise<Answer> {
    const key = `key-${++this.#key}`
    const begun = performance.now()
    const answer = await post(this.#world.gateway.port, { name: `${alias}__${tool}`, arguments: { key } }).catch(
      () => undefined
    )
    const { text, error } = answer ?? {}
    if (text === undefined && error === undefined) this.answers.none++
    else if (error !== undefined) this.answers.error++
    else if (text?.startsWith(`${key} `) === true) this.answers.result++
    else this.answers.wrong++
    return { text, error, ms: performance.now() - begun }
  }

  async #repeat (alias: string): Promise<void> {
    while (!this.#stopped) {
      const { error, ms } = await this.call(alias, 'echo')
      if (alias === 'other') {
        this.others.slowest = Math.max(this.others.slowest, ms)
        if (error !== undefined) this.others.failed++
      }
      // A server that is being started again refuses at once.
      if (error !== undefined) await sleep(2)
    }
  }
}

async function post (port: number, params: object): Promise<{ text?: string, error?: string } | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const reply = await fetch(`http://127.0.0.1:${port}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT)
  })
  const { result, error } = (await reply.json()) as {
    result?: { content?: Array<{ text?: string }> }
    error?: { message: string }
  }
  if (error !== undefined) return { error: error.message }
  const text = result?.content?.[0]?.text
  return text === undefined ? undefined : { text }
}

interface Usage { descriptors: number, rss: number }

function usage (pid: number): Usage {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, rss: pages * 4_096 / 2 ** 20 }
}

/** Waits until only one generation of each server is left. */
async function settle ({ pids }: World): Promise<void> {
  for (const end = Date.now() + TIMEOUT; Date.now() < end && pids('victim').filter(isRunning).length > 2;) {
    await sleep(50)
  }
}

function judge (report: Report, { gateway, pids, keys }: World, { answers, others }: Load, before: Usage): void {
  const after = usage(gateway.pid)
  const sent = keys('victim')
  const twice = sent.length - new Set(sent).size
  const left = pids('victim').filter(isRunning).length
  report.note(
    `calls: ${answers.result} results, ${answers.error} errors, ${answers.none} without an answer, ${answers.wrong} with the answer of another; ${sent.length} reached a server, ${twice} twice`
  )
  report.note(`the other server: ${others.failed} calls failed, the slowest took ${Math.round(others.slowest)} ms`)
  report.note(
    `processes: ${pids('victim').length} started, ${left} left; descriptors ${before.descriptors} -> ${after.descriptors}; RSS ${before.rss.toFixed(1)} -> ${after.rss.toFixed(1)} MiB`
  )
  report.promise(answers.none === 0, `each call is answered, not all but ${answers.none}`)
  report.promise(answers.wrong === 0, `each call gets its own answer, not all but ${answers.wrong}`)
  report.promise(twice === 0, `no call is sent twice, not ${twice}`)
  report.promise(others.failed === 0, `no call of the other server fails, not ${others.failed}`)
  report.promise(left <= 2, `one server and what it started is left, not ${left} processes`)
  report.promise(
    after.descriptors <= before.descriptors + 20,
    `descriptors do not grow, from ${before.descriptors} to ${after.descriptors}`
  )
  report.promise(after.rss <= before.rss + 32, `memory does not grow, from ${before.rss} to ${after.rss} MiB`)
  report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
}
