import { createHook } from 'node:async_hooks'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { tool } from '../../app.js'
import { commandLogger } from '../../cli/logger.js'
import { LogLines } from '../../system/process/log-lines.js'
import { Peer } from '../../protocol/peer/peer.js'
import { gateway } from '../support/gateway.js'
import { until } from '../support/wait.js'
import { countClocks, countErrors, counting } from './counts.js'
import { modernMeta, type Json } from '../support/modern.js'

// What a call takes is counted in things that are made for it: unlike time, they are the same on every machine.

const CALLS = 1_000
const later = tool({ name: 'later', description: 'd', run: async () => 'later' })

const message = (name: string, args: Json, meta: Json = {}, id: number | string = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta } })

/** Calls a tool without any wire, as one who shook hands. */
function caller (app: FastifyInstance): { call: (name: string, args?: Json) => void, answers: string[] } {
  const answers: string[] = []
  const channel = { streams: true, respond: (text: string) => { answers.push(text) }, emit: () => {}, end: () => {} }
  const peer = new Peer({ transport: 'memory', channel })
  const send = (text: string) => app.mcp.dispatcher.receive(app.mcp.dispatcher.decode(text), peer, channel)
  app.mcp.dispatcher.lifecycle.connect(peer)
  send('{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}')
  let id = 0
  return { answers, call: (name, args = {}) => send(message(name, args, {}, ++id)) }
}

type Post = (app: FastifyInstance) => Promise<LightMyRequestResponse>

async function post (
  app: FastifyInstance,
  payload: string,
  headers: Record<string, string> = {}
): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    payload
  })
}

/** The ways to call a tool over HTTP: without a session, and in one. */
async function waysOver (app: FastifyInstance, name: string, args: Json): Promise<Record<'modern' | 'session', Post>> {
  const { headers } = await post(app, '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}')
  const session = String(headers['mcp-session-id'])
  const [modern, legacy] = [message(name, args, modernMeta()), message(name, args)]
  return {
    modern: async app =>
      await post(app, modern, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }),
    session: async app => await post(app, legacy, { 'mcp-session-id': session })
  }
}

/** What the work makes of a kind, at least: others may be at work beside it. */
async function least (made: () => number, work: () => Promise<unknown>): Promise<number> {
  let least = Infinity
  for (let round = 0; round < 20; round++) {
    made()
    await work()
    least = Math.min(least, made())
  }
  return least
}

/** Timers that were made since and are still there. */
function timers (t: Test): () => number {
  const alive = new Set<number>()
  const hook = createHook({
    init: (id, type) => {
      if (type === 'Timeout') alive.add(id)
    },
    destroy: id => {
      alive.delete(id)
    }
  }).enable()
  t.teardown(() => hook.disable())
  return () => alive.size
}

/** How many listen to what lives as long as the process, and how much is remembered of clients. */
function remembered (app: FastifyInstance): Json {
  const listeners = (source: NodeJS.EventEmitter) =>
    source.eventNames().reduce((sum, name) => sum + source.listenerCount(name), 0)
  return {
    server: listeners(app.server),
    process: listeners(process),
    peers: app.mcp.dispatcher.lifecycle.peers.size,
    inbound: [...app.mcp.dispatcher.lifecycle.peers].reduce((sum, peer) => sum + peer.inbound.size, 0),
    sessions: app.mcp.sessions.size,
    replies: app.mcp.connections.replies.size,
    tools: app.mcp.tools.names().length
  }
}

t.test('a call that is answered at once makes no promise, no error, and no timer of its own', async t => {
  const app = await gateway(t)
  const { call, answers } = caller(app)
  call('echo', { text: 'x' })
  const made = counting(t)
  const errors = countErrors(t)
  for (let count = 0; count < CALLS; count++) call('echo', { text: 'x' })
  const counted = { promises: made('PROMISE'), errors: errors(), timers: made('Timeout') }
  t.match(counted, { promises: 0, errors: 0 })
  t.ok(counted.timers <= 40, `${counted.timers} timers`)
  t.ok(made('Immediate') <= 1, 'whoever writes a line about them comes once')
  t.equal(answers.filter(text => text.includes('"structuredContent":{"text":"x"}')).length, CALLS + 1)
  call('refuse')
  call('boom')
  call('nothing')
  void Promise.resolve()
  t.ok(errors() >= 3 && made('PROMISE') === 1, 'the counters count')
})

t.test('a call reads the monotonic clock twice, and the time of day once for its log line', async t => {
  const file = join(t.testdir(), 'log')
  const logs = new LogLines(openSync(file, 'w'))
  const logger = commandLogger('info', process.pid, logs)
  const app = await gateway(t, {}, { loggerInstance: logger })
  const { call, answers } = caller(app)
  call('echo', { text: 'x' })
  const read = countClocks(t)
  for (let count = 0; count < CALLS; count++) call('echo', { text: 'x' })
  const { day, other } = read()
  t.equal(answers.length, CALLS + 2)
  t.ok(other >= CALLS && other <= 2 * CALLS + 50, `${other} for ${CALLS} calls`)
  t.ok(day <= 2 * CALLS + 50, `the time of day: ${day}`)
  logs.flush()
  t.equal(readFileSync(file, 'utf8').match(/"tool":"echo"/g)?.length, CALLS + 1, 'with a line for each')
})

t.test('a call that waits makes a handful of promises', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(later)
  const { call, answers } = caller(app)
  const made = counting(t)
  const calls = async () => {
    const before = answers.length
    for (let count = 0; count < 100; count++) call('later')
    while (answers.length < before + 100) await turn()
  }
  await calls()
  const promises = await least(() => made('PROMISE'), calls)
  t.ok(promises >= 100 && promises <= 320, `${promises / 100} promises a call`)
})

t.test('a request over HTTP', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(later)
  const bare = Fastify().post('/mcp', (_request, reply) => {
    void reply.header('content-type', 'application/json').send('{}')
  })
  t.teardown(async () => await bare.close())
  const atOnce = await waysOver(app, 'echo', { text: 'x' })
  const waiting = await waysOver(app, 'later', {})

  t.test('makes no promise that a bare route does not make, but for one that all of a turn share', async t => {
    const made = counting(t)
    const times = async (count: number, work: Post, to: FastifyInstance) => {
      for (; count > 0; count--) await work(to)
    }
    const promisesOf = async (work: Post, to = app) =>
      await least(
        () => made('PROMISE'),
        async () => await times(5, work, to)
      )
    const floor = await promisesOf(atOnce.session, bare)
    t.ok(floor > 0, 'the counter counts')
    for (const [way, work] of Object.entries(atOnce)) t.equal(await promisesOf(work), floor + 5, way)
    const together = async (work: Post, to = app) =>
      await least(
        () => made('PROMISE'),
        async () => await Promise.all(Array.from({ length: 20 }, async () => await work(to)))
      )
    const floorTogether = await together(atOnce.session, bare)
    for (const [way, work] of Object.entries(atOnce)) {
      const promises = await together(work) - floorTogether
      t.ok(promises > 0 && promises < 5, `${promises} more for 20 at once, ${way}`)
    }
    for (const [way, work] of Object.entries(waiting)) {
      const promises = await promisesOf(work)
      t.ok(promises > floor && promises <= floor + 5 * 4, `${way}, and a tool that waits: ${(promises - floor) / 5}`)
    }
  })

  t.test('makes no error, and leaves nothing behind', async t => {
    for (const work of [...Object.values(atOnce), ...Object.values(waiting)]) t.equal((await work(app)).statusCode, 200)
    await until(() => app.mcp.connections.replies.size === 0)
    const before = remembered(app)
    const left = timers(t)
    const errors = countErrors(t)
    const made = await least(errors, async () => {
      for (let count = 0; count < CALLS / 200; count++) {
        for (const work of [...Object.values(atOnce), ...Object.values(waiting)]) await work(app)
      }
    })
    t.equal(made, 0)
    await until(() => left() < 5 && app.mcp.connections.replies.size === 0)
    t.strictSame(remembered(app), before)
    await post(app, message('nothing', {}))
    t.ok(errors() > 0, 'the counter counts')
  })
})

t.test('requests over HTTP have one logger', async t => {
  let children = 0
  const ignore = () => {}
  const logger: FastifyBaseLogger = {
    level: 'info',
    fatal: ignore,
    error: ignore,
    warn: ignore,
    info: ignore,
    debug: ignore,
    trace: ignore,
    silent: ignore,
    child: () => {
      children++
      return logger
    }
  }
  const app = await gateway(t, {}, { loggerInstance: logger })
  const ways = await waysOver(app, 'echo', { text: 'x' })
  children = 0
  for (let count = 0; count < 10; count++) {
    for (const work of Object.values(ways)) t.equal((await work(app)).statusCode, 200)
  }
  t.equal(children, 0)
})
