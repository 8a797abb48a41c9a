import t from 'tap'
import { tool } from '../../app.js'
import { connectRedis } from '../../system/redis/connection.js'
import { at, onSharedRedis, onSharedStores, pairOf, type Node } from '../support/environment/nodes.js'
import type { EventReader } from '../support/event-reader.js'
import { listening } from '../support/gateway.js'
import { openSession, type HttpSession } from '../support/http-session.js'
import { call } from '../support/messages.js'
import { FIXTURE, launch } from '../support/process.js'
import type { Server } from '../support/server.js'
import { CONNECTIONS } from '../support/transports.js'
import { Inbox, until } from '../support/wait.js'

const LISTS = ['tools', 'prompts', 'resources'].map(kind => `notifications/${kind}/list_changed`)
const [, , RESOURCES] = LISTS as [string, string, string]
const UPDATED = 'notifications/resources/updated'
const COUNTER = 'server://counter'

onSharedStores(t, (t, share) => {
  t.test('a list that changes at one node is heard once by every client of every transport at every node', async t => {
    const nodes = await pairOf(t, await share(t))
    const heard = new Map<string, number>()
    const inboxes = new Map<string, Inbox<unknown>>()
    for (const [index, node] of nodes.entries()) {
      for (const [name, era, open] of CONNECTIONS) {
        const connection = await open(serverOf(node))
        t.teardown(async () => await connection.close())
        if (era === 'modern') {
          await connection.write(
            call('subscriptions/listen', { notifications: { resourcesListChanged: true } }, 'listen')(era)
          )
          await connection.inbox.next()
        }
        inboxes.set(`${name} at ${index}`, connection.inbox)
      }
      // Sessions whose streams are at the node that opened them, and at the other one.
      for (const [where, reader] of nodes.entries()) {
        const inbox = new Inbox<unknown>()
        const stream = await at(reader, await openSession(node.url)).listen()
        t.teardown(() => stream.drop())
        void (async () => { for (;;) inbox.push(await stream.message()) })().catch(() => {})
        inboxes.set(`session of ${index} read at ${where}`, inbox)
      }
    }
    const count = (): number[] => [...inboxes].map(([client, inbox]) => {
      const news = inbox.take().filter(message => (message as { method?: string }).method === RESOURCES)
      heard.set(client, (heard.get(client) ?? 0) + news.length)
      return heard.get(client) ?? 0
    })
    const [one, two] = nodes
    for (const [times, node] of [one, two, one].entries()) {
      await node.app.mcp.notes.add(undefined, `note ${times}`, [])
      await until(() => count().every(changes => changes > times), `that all have heard ${times + 1} changes`)
    }
    t.strictSame(count(), count().map(() => 3))
  })

  t.test('what was announced while the client was away is heard at the node where it comes back', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    await session.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    for (let times = 0; times < 3; times++) {
      one.app.mcp.tools.add(tool({ name: `late_${times}`, description: 'd', run: () => '' }))
      await one.app.mcp.store.values.increment('counter', 'value', 1)
      await new Promise(setImmediate)
    }
    const stream = await at(two, session).listen()
    t.strictSame((await methodsOf(stream, 2)).sort(), [UPDATED, 'notifications/tools/list_changed'])
    t.strictSame(await heardUntilNow(stream, one, session), [])
  })

  t.test(
    'a node that serves a session whose home has left becomes its home, and announces that anything may have changed',
    async t => {
      const [one, two] = await pairOf(t, await share(t))
      const session = await openSession(one.url)
      await at(two, session).post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
      const { self } = two.app.mcp.store.nodes
      t.not((await two.app.mcp.store.sessions.load(session.id))?.home, self)
      await one.app.close()
      await until(async () => {
        t.equal((await at(two, session).post({ id: 2, method: 'ping' })).status, 200)
        return (await two.app.mcp.store.sessions.load(session.id))?.home === self
      }, 'the move of the home')
      const stream = await at(two, session).listen()
      t.strictSame((await methodsOf(stream, 4)).sort(), [...LISTS, UPDATED].sort())
      await two.app.mcp.store.values.increment('counter', 'value', 1)
      t.match(await stream.message(), { method: UPDATED })
      t.strictSame(await heardUntilNow(stream, two, session), [])
    }
  )

  t.test('a client whose node was killed hears at another that anything may have changed', async t => {
    const shared = await share(t)
    const doomed = launch(t, ['--port', '0', '--plugin', FIXTURE, ...argumentsOf(shared)], {
      env: { PATCHBAY_REDIS_PREFIX: String(shared.redisPrefix ?? '') }
    })
    const [url, two] = [await doomed.url(), await listening(t, shared)]
    const session = await openSession(url)
    await session.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    const first = await session.listen()
    doomed.kill('SIGKILL')
    await doomed.exit()
    await first.rest().catch(() => {})
    const stream = await at(two, session).listen()
    t.strictSame((await methodsOf(stream, 4)).sort(), [...LISTS, UPDATED].sort())
    await two.app.mcp.store.values.increment('counter', 'value', 1)
    t.match(await stream.message(), { method: UPDATED })
    t.strictSame(await heardUntilNow(stream, two, session), [])
  })
})

onSharedRedis(t, (t, share) => {
  t.test('changes of lists cost no write for sessions that no client reads', async t => {
    const shared = await share(t)
    const { app, url } = await listening(t, shared)
    const session = await openSession(url)
    for (let times = 0; times < 3; times++) {
      app.mcp.tools.add(tool({ name: `late_${times}`, description: 'd', run: () => '' }))
      await new Promise(setImmediate)
    }
    const redis = await connectRedis(String(shared.redis), () => {})
    t.teardown(() => redis.close())
    t.equal(await redis.command('EXISTS', `${shared.redisPrefix}{s:${session.id}}:e`), 0)
    const stream = await session.listen()
    t.match(await stream.message(), { method: 'notifications/tools/list_changed' })
    t.strictSame(await heardUntilNow(stream, { app, url }, session), [])
  })
})

const serverOf = ({ app, url }: Node): Server => ({
  app,
  port: Number(new URL(url).port),
  seen: { counted: 0, hanging: 0, aborted: 0 },
  sockets: new Set(),
  faults: []
})

const argumentsOf = ({ data, redis }: Partial<{ data: unknown, redis: unknown }>): string[] =>
  data === undefined ? ['--redis', String(redis)] : ['--data', String(data)]

/** The methods of the next messages of a stream. */
async function methodsOf (stream: EventReader, count: number): Promise<unknown[]> {
  const methods: unknown[] = []
  while (methods.length < count) methods.push((await stream.message())['method'])
  return methods
}

/** The methods of what a stream brings before a message that is sent now. */
async function heardUntilNow (stream: EventReader, { app }: Node, { id }: HttpSession): Promise<unknown[]> {
  app.mcp.sessions.find(id)?.peer.notify('notifications/message', { level: 'info', data: 'now' })
  const methods: unknown[] = []
  for (;;) {
    const { method } = await stream.message()
    if (method === 'notifications/message') return methods
    methods.push(method)
  }
}
