import t from 'tap'
import { until } from '../support/wait.js'
import { post } from '../support/http-session.js'
import { CounterListener } from './crash-listener.js'
import { Load, modernConnection, plainConnection, sessionConnection, websocketConnection } from './crash-load.js'
import { modernMeta } from '../support/modern.js'
import { gatewayOn, type Gateway, type Start } from '../support/restarting.js'

// Many more: TAP_TIMEOUT=3600 CRASH_KILLS=100 node build/test/app/crash.slow.test.js
const KILLS = Number(process.env['CRASH_KILLS'] ?? 5)
/**
 * How long the server may take to come back, in milliseconds. On a machine that is busy with other things its own work
 * counts.
 */
const BACK = 2_000

t.test(`a server that is killed ${KILLS} times while it writes loses nothing it has acknowledged`, { timeout: 30_000 + KILLS * 15_000 }, async t => {
  const gateway = await gatewayOn(t, [], { PATCHBAY_LIMITS: 'maxNotes=1000000', PATCHBAY_PAGE_SIZE: '1000' })
  await gateway.start()
  const load = new Load()
  const listener = await CounterListener.on(gateway.url)
  const connections = {
    plain: plainConnection(gateway.url),
    'plain too': plainConnection(gateway.url),
    modern: modernConnection(gateway.url),
    session: await sessionConnection(gateway.url),
    websocket: websocketConnection(gateway.url)
  }
  for (const [name, connection] of Object.entries(connections)) load.add(name, connection)

  const restarts: Start[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await underWay(load, 10 + Math.random() * 800)
    restarts.push(await gateway.restart())
    const { acknowledged } = load.counter
    const counted = await counter(gateway)
    if (counted < acknowledged || counted > load.counter.sent) {
      t.fail(
        `after kill ${kill + 1} the counter is ${counted}, with ${acknowledged} acknowledged and ${load.counter.sent} sent`
      )
    }
  }
  await underWay(load)
  await load.stop()
  await listener.notified(load.counter.acknowledgedCalls).catch(() => {})
  await listener.stop()

  const notes = await contents(gateway)
  const kept = new Set(notes)
  t.strictSame(
    [...load.notes.acknowledged].filter(note => !kept.has(note)),
    [],
    'every note that was acknowledged is there'
  )
  t.equal(notes.length, kept.size, 'once')
  t.strictSame(notes.filter(note => !load.notes.sent.has(note)), [], 'and none that was never sent')
  const counted = await counter(gateway)
  t.ok(
    counted >= load.counter.acknowledged && counted <= load.counter.sent,
    `the counter is ${counted}, with ${load.counter.acknowledged} acknowledged and ${load.counter.sent} sent`
  )
  t.strictSame(load.refused, [], 'nobody was refused')
  t.strictSame(listener.refused, [], 'the stream could always be taken up again')
  const broken = listener.numbers.findIndex((number, index) => number !== index + 1)
  t.equal(
    broken,
    -1,
    `the ${listener.numbers.length} events came once and in order: ... ${listener.numbers.slice(Math.max(0, broken - 3), broken + 3).join(', ')} ...`
  )
  t.ok(
    listener.updates >= load.counter.acknowledgedCalls,
    `${listener.updates} changes were heard of, ${load.counter.acknowledgedCalls} were acknowledged`
  )
  t.ok(listener.updates <= load.counter.calls)
  t.ok(load.unknown <= KILLS * 2 * Object.keys(connections).length, `${load.unknown} calls have no answer`)
  t.ok(listener.connections > KILLS, 'the stream broke each time')
  for (const { elapsed, busy = elapsed } of restarts) {
    if (elapsed >= BACK && busy >= BACK) t.fail(`a start took ${elapsed} ms, ${busy} ms of them at work`)
  }
  t.ok(load.acknowledged > KILLS * 10, 'there was load')
  t.comment(
    `kills ${KILLS}, acknowledged ${load.notes.acknowledged.size} notes and ${load.counter.acknowledgedCalls} increments, unknown ${load.unknown}, events ${listener.numbers.length} over ${listener.connections} connections, ` +
      `starts ${inWords(restarts.map(({ elapsed }) => elapsed))}, at work ${inWords(restarts.map(({ busy }) => busy ?? NaN))}`
  )
})

function inWords (times: number[]): string {
  const sorted = [...times].sort((a, b) => a - b)
  return `median ${sorted[sorted.length >> 1]} ms, slowest ${sorted.at(-1)} ms`
}

/** Waits until the server has acknowledged so much since. */
async function underWay (load: Load, more = 10): Promise<void> {
  const before = load.acknowledged
  await until(() => load.acknowledged >= before + more)
}

async function counter (gateway: Gateway): Promise<number> {
  const {
    contents: [content]
  } = await ask<{ contents: Array<{ text: string }> }>(
    gateway,
    'resources/read',
    { uri: 'server://counter' },
    { 'mcp-name': 'server://counter' }
  )
  return Number(content?.text)
}

async function contents (gateway: Gateway): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await ask<{ resources: Array<{ uri: string, title?: string }>, nextCursor?: string }>(
      gateway,
      'resources/list',
      cursor === undefined ? {} : { cursor }
    )
    found.push(...page.resources.filter(({ uri }) => uri.startsWith('note:')).map(({ title = '' }) => title))
    if (page.nextCursor === undefined) return found
    cursor = page.nextCursor
  }
}

async function ask<T> (
  gateway: Gateway,
  method: string,
  params: object,
  headers: Record<string, string> = {}
): Promise<T> {
  const { body } = await post(
    gateway.url,
    { id: 1, method, params: { ...params, _meta: modernMeta() } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers }
  )
  if (body.result === undefined) throw new Error(JSON.stringify(body))
  return body.result as T
}
