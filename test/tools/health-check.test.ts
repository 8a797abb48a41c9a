import { homedir } from 'node:os'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { version } from '../../app.js'
import { compile } from '../../protocol/schema/schema.js'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { openSession } from '../support/http-session.js'
import { TRANSPORTS, through } from './transports.js'
import { dataOf, ERAS, Speaker, textOf } from '../support/speaker.js'

const MEMBERS = ['memory', 'peers', 'sessions', 'status', 'store', 'transports', 'unavailable', 'uptime', 'versions']

t.test('it returns the health of the server over every transport', async t => {
  const served = await listening(t)
  for (const transport of TRANSPORTS) {
    const { structuredContent, isError } = await (await through(t, transport, served))('health_check')
    t.equal(isError, false)
    t.strictSame(Object.keys(structuredContent as Json).sort(), MEMBERS, transport)
    t.match(structuredContent, {
      status: 'healthy',
      versions: { server: version, node: process.versions.node, protocol: [...ERAS].reverse() },
      store: { kind: 'memory', writable: true },
      unavailable: { execute_command: /option commands/ }
    }, transport)
  }
})

t.test('every revision gets the result, and the text has the same content', async t => {
  const app = await gateway(t)
  for (const era of ERAS) {
    const answer = await new Speaker(app, { version: era }).tool('health_check')
    t.match(JSON.parse(textOf(answer)), { status: 'healthy', versions: { server: version } }, era)
    if (era >= '2025-06-18') t.strictSame(JSON.parse(textOf(answer)), dataOf(answer), era)
    else t.equal(answer.result.structuredContent, undefined, era)
  }
})

t.test('its result fits its output schema, and it takes no arguments', async t => {
  const speaker = new Speaker(await gateway(t))
  const { result: { tools } } = await speaker.request('tools/list')
  const listed = (tools as Json[]).find(({ name }) => name === 'health_check')
  t.match(listed, { annotations: { readOnlyHint: true }, description: /status/ })
  t.equal(
    compile(listed?.outputSchema as ReturnType<typeof Type.Object>)(dataOf(await speaker.tool('health_check'))),
    undefined
  )
  t.match(await speaker.tool('health_check', { verbose: true }), {
    result: { isError: true, content: [{ text: /"verbose"/ }] }
  })
})

t.test('its numbers are current', async t => {
  const { app, url } = await listening(t)
  const speaker = new Speaker(app)
  const report = async () =>
    dataOf<{
      uptime: number
      sessions: number
      peers: number
      memory: { rss: number, heapUsed: number }
      transports: string[]
    }>(await speaker.tool('health_check'))
  const before = await report()
  t.strictSame([before.sessions, before.peers, before.transports], [0, 1, ['http', 'sse', 'websocket']])
  t.ok(before.memory.rss > before.memory.heapUsed && before.memory.heapUsed > 1_000_000)
  t.ok(Number.isInteger(before.uptime) && before.uptime >= 0 && before.uptime < 60)
  const session = await openSession(url)
  await openSession(url)
  t.match(await report(), { sessions: 2, peers: 3 })
  await session.end()
  t.match(await report(), { sessions: 1, peers: 2 })
})

t.test('the transports are those that are open and those that are in use', async t => {
  const app = await gateway(t, { http: false })
  const transports = async (speaker: Speaker) =>
    dataOf<{ transports: string[] }>(await speaker.tool('health_check')).transports
  const speaker = new Speaker(app)
  t.strictSame(await transports(speaker), ['http'])
  speaker.close()
  t.strictSame(app.mcp.health.now().transports, [])
})

t.test('what is not served is named, with what to do about it', async t => {
  const app = await gateway(t)
  app.mcp.unavailable.set('teleport', 'there is no pad: buy one')
  const { unavailable } = dataOf<{ unavailable: Record<string, string> }>(await new Speaker(app).tool('health_check'))
  t.equal(unavailable['teleport'], 'there is no pad: buy one')
  const served = await gateway(t, { commands: { echo: {} } })
  t.notOk(
    'execute_command' in dataOf<{ unavailable: Json }>(await new Speaker(served).tool('health_check')).unavailable
  )
})

t.test('paths of this machine are not shown', async t => {
  const [data, root] = [await folder(t, {}), await folder(t, { 'a.txt': 'a' })]
  const { app, url } = await listening(t, {
    data,
    roots: [root],
    commands: { it: { program: '/bin/echo', folder: root } },
    secret: 'a secret of sixteen'
  })
  const texts = [
    JSON.stringify(await new Speaker(app).tool('health_check')),
    await (await fetch(`${url}/health`)).text(),
    JSON.stringify(await new Speaker(app).request('resources/read', { uri: 'server://status' }))
  ]
  for (const text of texts) {
    t.match(text, 'healthy')
    for (const private_ of [
      data,
      root,
      homedir(),
      process.cwd(),
      process.execPath,
      '/bin/echo',
      'a secret',
      String(process.pid)
    ]) {
      t.notOk(text.includes(private_), private_)
    }
  }
})

t.test('a gateway that cannot write to its store reports why, and goes on', async t => {
  const data = await folder(t, {})
  const app = await gateway(t, { data, maxData: 1 })
  const speaker = new Speaker(app)
  t.match(dataOf(await speaker.tool('health_check')), { status: 'healthy', store: { kind: 'disk', writable: true } })
  t.notOk('reason' in dataOf(await speaker.tool('health_check')))
  const refused = await speaker.tool('add_note', { content: 'x'.repeat(60_000) })
  t.match(refused, { result: { isError: true, content: [{ text: /^Storage failed: .*option maxData/ }] } })
  const degraded = dataOf(await speaker.tool('health_check'))
  t.match(degraded, { status: 'degraded', reason: /option maxData/, store: { kind: 'disk', writable: false } })
  t.notOk(JSON.stringify(degraded).includes(data))
  t.strictSame(dataOf(await speaker.tool('get_notes')), { notes: [], more: false }, 'reading goes on')
  t.match(textOf(await speaker.tool('calculate', { operation: 'add', a: 1, b: 2 })), '1 + 2 = 3')
})
