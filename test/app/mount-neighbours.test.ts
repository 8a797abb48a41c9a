import { createRequire } from 'node:module'
import underPressure from '@fastify/under-pressure'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { patchbay, tool } from '../../app.js'
import { callOf, INITIALIZE, overHttp, overWebSocket, upgradeStatus } from './mount-clients.js'
import { takeTime } from '../support/wait.js'

/**
 * Everything that Patchbay once decorated applications, requests and replies with, and more that a host may well have.
 */
const NAMES = [
  'tools',
  'resources',
  'prompts',
  'sessions',
  'health',
  'store',
  'scopes',
  'access',
  'pressure',
  'rates',
  'rateLimiter',
  'identities',
  'events',
  'eventStreams',
  'paginate',
  'announce',
  'subscriptions',
  'unavailable',
  'notes',
  'files',
  'commands',
  'folders',
  'clipboard',
  'webSearch',
  'connections',
  'pendingReplies',
  'flushed',
  'askForBody',
  'dispatcher'
]
const OF_REPLIES = ['onGone', 'sessions']
const OF_REQUESTS = ['hostIsForeign', 'isHostForeign', 'session']

type Step = (app: FastifyInstance) => unknown
type SocketPlugin = typeof websocket

const gateway: Step = async app => {
  await app.register(patchbay, { prefix: '/ai', tools: true, allowAnonymous: true, clipboard: { remote: true } })
  app.mcp.tools.add(tool({ name: 'hello', description: 'd', run: () => 'hello from a tool' }))
}

const decorate: Step = app => {
  for (const name of NAMES) app.decorate(name, `the host's ${name}`)
  for (const name of OF_REPLIES) app.decorateReply(name, `the host's ${name}`)
  for (const name of OF_REQUESTS) app.decorateRequest(name, `the host's ${name}`)
}

/** A second copy of the package, as a host has one beside the one in our bundle. */
function secondCopy (): SocketPlugin {
  const require = createRequire(import.meta.url)
  const path = require.resolve('@fastify/websocket')
  const { [path]: first } = require.cache
  delete require.cache[path]
  const copy = require(path) as SocketPlugin
  if (first !== undefined) require.cache[path] = first
  return copy
}

const sockets = (plugin: SocketPlugin): Step => async app => {
  await app.register(plugin)
  await app.register(async scope => {
    scope.get('/own/socket', { websocket: true }, socket => {
      socket.on('message', data => socket.send(`own ${String(data)}`))
    })
  })
}

const pressure: Step = async app => {
  await app.register(underPressure, { maxRssBytes: 2 ** 40, exposeStatusRoute: '/own/status' })
}

async function started (t: Test, steps: Step[]): Promise<{ app: FastifyInstance, url: string, lines: string[] }> {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(async () => await app.close())
  for (const step of steps) await step(app)
  return { app, lines, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

const CALL = callOf('hello')
const ANSWER = { id: 1, result: { content: [{ text: 'hello from a tool' }] } }

async function works (t: Test, url: string): Promise<void> {
  t.match(await overHttp(`${url}/ai/message`, CALL), ANSWER, 'over HTTP')
  t.match(JSON.parse(await overWebSocket(`${url}/ai/mcp`, [INITIALIZE, CALL])), ANSWER, 'over WebSocket')
}

for (const [order, steps] of Object.entries({ before: [decorate, gateway], after: [gateway, decorate] })) {
  t.test(`a host may have every name but mcp for itself, decorated ${order} Patchbay is registered`, async t => {
    const { app, url, lines } = await started(t, steps)
    await works(t, url)
    for (const name of NAMES) t.equal((app as unknown as Record<string, unknown>)[name], `the host's ${name}`)
    t.strictSame(lines, [])
  })
}

t.test('Patchbay adds one decorator to a host, and none to its requests and replies', async t => {
  const before = Object.keys(Fastify())
  const app = Fastify()
  t.teardown(async () => await app.close())
  await gateway(app)
  t.strictSame(Object.keys(app).filter(name => !before.includes(name)), ['mcp'])
  for (const name of ['ws', 'identity', 'hostIsForeign']) t.notOk(app.hasRequestDecorator(name), name)
  t.notOk(app.hasReplyDecorator('onGone'))
})

t.test('a member of app.mcp is provided once', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await gateway(app)
  t.throws(() => app.mcp.provide('tools', app.mcp.tools), /app\.mcp\.tools is there already/)
})

for (const [copy, plugin] of Object.entries({
  'the same copy of @fastify/websocket': websocket,
  'another copy of @fastify/websocket': secondCopy()
})) {
  for (const [order, steps] of Object.entries({
    before: [sockets(plugin), gateway],
    after: [gateway, sockets(plugin)]
  })) {
    t.test(`a host has ${copy}, registered ${order} Patchbay`, async t => {
      const { url, lines } = await started(t, steps)
      await works(t, url)
      t.equal(await overWebSocket(`${url}/own/socket`, ['hello']), 'own hello')
      t.equal(await upgradeStatus(`${url}/ai/mcp`, { origin: 'https://evil.example' }), 403, 'our checks hold')
      t.equal(await upgradeStatus(`${url}/own/nowhere`, {}), 404)
      t.match(
        JSON.parse(await overWebSocket(`${url}/ai/mcp?a=b`, [INITIALIZE, CALL])),
        ANSWER,
        'with a query, and after refusals'
      )
      t.match(lines, [/"outcome":"refused","status":403/], 'the refusal and nothing else')
      t.equal(lines.length, 1)
    })
  }
}

for (const [order, steps] of Object.entries({ before: [pressure, gateway], after: [gateway, pressure] })) {
  t.test(`a host has @fastify/under-pressure, registered ${order} Patchbay`, async t => {
    const { url, lines } = await started(t, steps)
    await works(t, url)
    t.equal((await fetch(`${url}/own/status`)).status, 200)
    t.strictSame(lines, [])
  })
}

t.test('two scopes have a gateway each, over WebSocket as well, also beyond headersTimeout', async t => {
  const scoped = (prefix: string): Step => async app => {
    await app.register(async scope => {
      await scope.register(patchbay, { prefix, allowAnonymous: true, limits: { headersTimeout: 100 } })
      scope.mcp.tools.add(
        tool({
          name: 'where',
          description: 'd',
          run: async () => {
            await takeTime(250)
            return prefix
          }
        })
      )
    })
  }
  const { url, lines } = await started(t, [scoped('/one'), scoped('/two'), sockets(websocket)])
  const where = callOf('where')
  for (const prefix of ['/one', '/two']) {
    t.match(JSON.parse(await overWebSocket(`${url}${prefix}/mcp`, [INITIALIZE, where])), {
      result: { content: [{ text: prefix }] }
    })
  }
  t.equal(await overWebSocket(`${url}/own/socket`, ['hello']), 'own hello')
  t.strictSame(lines, [])
})

t.test('a gateway under a parameter is found by its sockets', async t => {
  const tenants: Step = async app => {
    await app.register(async scope => {
      await scope.register(patchbay)
      scope.mcp.tools.add(tool({ name: 'hello', description: 'd', run: () => 'hello from a tool' }))
    }, { prefix: '/:tenant/ai' })
  }
  const { url } = await started(t, [tenants, sockets(secondCopy())])
  t.match(JSON.parse(await overWebSocket(`${url}/acme/ai/mcp`, [INITIALIZE, CALL])), ANSWER)
  t.equal(await overWebSocket(`${url}/own/socket`, ['hello']), 'own hello')
})
