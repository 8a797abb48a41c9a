import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { createClient, McpError, resource, tool, type Identity } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { within } from '../support/wait.js'

const ADA: Identity = { principal: 'ada', scopes: new Set(['mcp', 'notes']) }
const BOB: Identity = { principal: 'bob', scopes: new Set(['mcp']) }

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects garbage until a condition holds; finalizers run a little later than the collection. */
async function collecting (condition: () => boolean): Promise<void> {
  await within(60_000, async signal => {
    while (!condition()) {
      signal.throwIfAborted()
      collect()
      await turn()
    }
  })
}

const open = tool({ name: 'open', description: 'd', run: (_input, { local, principal }) => `${local} ${principal}` })
const guarded = tool({ name: 'guarded', description: 'd', scopes: ['vault'], run: () => 'gold' })
const plugin = async ({ mcp: { tools } }: { mcp: { tools: { add: (item: typeof open) => void } } }) => {
  for (const item of [open, guarded]) tools.add(item)
}

const names = ({ tools }: Record<string, unknown>): string[] =>
  (tools as Array<{ name: string }>).map(({ name }) => name)
const add = { name: 'add_note', arguments: { content: 'of Ada' } }

t.test('a client acts for the identity it is given: with its rights, and no others', async t => {
  const app = await gateway(t, { plugins: [plugin] })
  const [ada, bob, all] = [
    await createClient(app, { identity: ADA }),
    await createClient(app, { identity: BOB }),
    await createClient(app)
  ]
  t.match(
    await ada.request('tools/call', { name: 'open' }),
    { content: [{ text: 'false ada' }] },
    'it is no local program'
  )
  t.match(await all.request('tools/call', { name: 'open' }), { content: [{ text: 'true undefined' }] })
  await t.rejects(ada.request('tools/call', { name: 'guarded' }), { code: -32602, message: /Unknown tool: guarded/ })
  t.match(await all.request('tools/call', { name: 'guarded' }), { content: [{ text: 'gold' }] })
  t.strictSame(
    [
      names(await ada.request('tools/list')).includes('guarded'),
      names(await all.request('tools/list')).includes('guarded')
    ],
    [false, true]
  )
  await t.rejects(bob.request('tools/call', add), { code: -32602 })
  await ada.request('tools/call', add)
  t.match(await ada.request('tools/call', { name: 'get_notes', arguments: {} }), { content: [{ text: /of Ada/ }] })
  t.notMatch(JSON.stringify(await all.request('tools/call', { name: 'get_notes', arguments: {} })), /of Ada/)
})

t.test('its calls count against the rates of that identity; without one they are not counted', async t => {
  const app = await gateway(t, { plugins: [plugin], toolRates: { open: 1 } })
  const [ada, all] = [await createClient(app, { identity: ADA }), await createClient(app)]
  await t.rejects(
    async () => {
      for (let count = 0; count < 1_000; count++) await ada.request('tools/call', { name: 'open' })
    },
    { message: /Too many calls to open by one caller/ }
  )
  for (let count = 0; count < 20; count++) t.match(await all.request('tools/call', { name: 'open' }), { content: [{}] })
})

t.test('its audit lines have that principal, and it ends when the identity does', async t => {
  const app = await gateway(t, { plugins: [plugin] })
  const seen: Array<string | undefined> = []
  app.mcp.onEnd(({ principal, method }) => { if (method === 'tools/call') seen.push(principal) })
  const expires = Date.now() + 60_000
  const client = await createClient(app, { identity: { ...ADA, expires } })
  await client.request('tools/call', { name: 'open' })
  t.strictSame(seen, ['ada'])
  const { now } = Date
  t.teardown(() => { Date.now = now })
  Date.now = () => expires
  await t.rejects(client.request('tools/call', { name: 'open' }), /expired/)
})

t.test('clients that were not closed are collected', async t => {
  const orders = async (app: FastifyInstance) => {
    app.get('/orders', async () => await (await createClient(app)).request('tools/call', { name: 'open' }))
  }
  const app = await gateway(t, { plugins: [plugin, orders] })
  for (let count = 0; count < 200; count++) t.equal((await app.inject('/orders')).statusCode, 200)
  await collecting(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  t.match((await app.inject('/health')).json(), { peers: 0 })
})

t.test('a referenced client gets notifications, however often garbage is collected', async t => {
  const app = await gateway(t)
  const client = await createClient(app)
  const { notifications } = await createClient(app)
  const notified = (await createClient(app)).notified('notifications/resources/list_changed')
  const released = new EventEmitter()
  app.mcp.tools.add(
    tool({
      name: 'wait',
      description: 'd',
      run: async () => {
        await once(released, 'go')
        return 'done'
      }
    })
  )
  const answer = (await createClient(app)).request('tools/call', { name: 'wait' })
  await createClient(app)
  await collecting(() => app.mcp.dispatcher.lifecycle.peers.size === 4)
  for (let count = 0; count < 5; count++) { collect(); await turn() }
  app.mcp.tools.add(open)
  app.mcp.resources.add(resource({ uri: 'test://new', name: 'new', read: () => '' }))
  released.emit('go')
  t.match(await within(60_000, async () => await client.notified('notifications/tools/list_changed')), {})
  t.match(await within(60_000, async () => await notified), {})
  t.match(
    notifications.map(({ method }) => method),
    [
      'notifications/tools/list_changed',
      'notifications/tools/list_changed',
      'notifications/resources/list_changed'
    ].slice(-notifications.length)
  )
  t.ok(notifications.length >= 2)
  t.match(await within(60_000, async () => await answer), { content: [{ text: 'done' }] })
})

t.test('a client for a request without an identity is refused, not given every right', async t => {
  const app = await gateway(t)
  // As a host passes on what its request has; a caller that did not authenticate has none.
  for (const identity of [undefined, null]) {
    await t.rejects(createClient(app, { identity: identity as unknown as Identity }), {
      message: /identity that is not set/
    })
  }
})

t.test('an identity of another shape is refused', async t => {
  const app = await gateway(t)
  for (const identity of [
    'ada',
    {},
    { principal: 'ada', scopes: ['mcp'] },
    { principal: 1, scopes: 'all' },
    { principal: 'ada', scopes: 'all', expires: 'soon' }
  ]) {
    await t.rejects(createClient(app, { identity: identity as unknown as Identity }), {
      message:
        /^createClient was given an identity of another shape than \{ principal: string \| undefined, scopes: "all" \| Set<string>/
    })
  }
})

t.test('an unknown option is refused: a slip in the name of identity would give every right', async t => {
  const app = await gateway(t)
  const given = async (options: object) => await createClient(app, options)
  await t.rejects(given({ identty: BOB }), {
    message: 'createClient has no option "identty"; did you mean "identity"?'
  })
  await t.rejects(given({ x: 1 }), { message: /^createClient has no option "x"; it has protocolVersion, .*identity/ })
})

t.test('an app without Patchbay is refused with a sentence', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await t.rejects(createClient(app), { message: /an app without Patchbay: register patchbay first/ })
})

t.test('a route can answer 403 when its caller lacks the scope of a tool, as docs/embed.md shows', async t => {
  const route = async (app: FastifyInstance) => {
    app.get('/gold', async (_request, reply) => {
      const client = await createClient(app, { identity: BOB })
      try {
        return (await client.call('guarded')).text
      } catch (error) {
        if (error instanceof McpError && error.message === 'Invalid params: Unknown tool: guarded') {
          return await reply.code(403).send()
        }
        throw error
      } finally {
        client.close()
      }
    })
  }
  const app = await gateway(t, { plugins: [plugin, route] })
  t.equal((await app.inject('/gold')).statusCode, 403)
})
