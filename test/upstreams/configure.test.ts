import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Client, type Options } from '../../app.js'
import type { ServerEntry } from '../../upstreams/server-entry.js'
import type { Upstream } from '../../upstreams/ports.js'
import { createEntry } from '../support/fake-upstream.js'
import { gateway } from '../support/gateway.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { inTime, until } from '../support/wait.js'
import { openFixture } from './fixture/open.js'

type Servers = NonNullable<Options['mcpServers']>

async function withServers (t: Test, mcpServers: Servers): Promise<FastifyInstance> {
  // A new server may take longer to start on a busy machine than calls of the former one usually may.
  return await gateway(t, { tools: false, plugins: [], ephemeral: true, grace: 60_000, mcpServers })
}

function upstreamOf (app: FastifyInstance, alias: string): Upstream {
  const upstream = app.mcp.upstreams.get(alias)
  if (upstream === undefined) throw new Error(`there is no ${alias}`)
  return upstream
}

/** The entries of an app, to be configured again with changes. */
const entryOf = (app: FastifyInstance, alias: string): ServerEntry => structuredClone(upstreamOf(app, alias).entry)

async function listed (client: Client): Promise<string[]> {
  return ((await client.request('tools/list')).tools as Array<{ name: string }>).map(({ name }) => name)
}

const has = (client: Client, name: string) => async (): Promise<boolean> => (await listed(client)).includes(name)

t.test(
  'a new configuration keeps the connections of unchanged servers, ends removed ones and starts new ones',
  async t => {
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map(async name => await openFixture(t, 'stdio', newestLegacy, name))
    )
    const app = await withServers(t, { a: a?.entry ?? {}, b: b?.entry ?? {}, c: { ...c?.entry, disabled: true } })
    const client = await createClient(app)
    await until(has(client, 'b__echo'))
    const kept = await upstreamOf(app, 'a').shared()
    const removed = await upstreamOf(app, 'b').shared()
    const second = entryOf(app, 'c')
    await app.mcp.upstreams.configure([entryOf(app, 'a'), { ...second, disabled: false }])
    t.equal(await upstreamOf(app, 'a').shared(), kept)
    await until(() => removed.closed)
    await until(has(client, 'c__echo'))
    t.notOk((await listed(client)).some(name => name.startsWith('b__')))
    t.equal(app.mcp.upstreams.get('b'), undefined)
    t.strictSame(
      app.mcp.upstreams.status().map(({ alias, restarts }) => [alias, restarts]),
      [
        ['a', 0],
        ['c', 0]
      ]
    )
  }
)

t.test('a changed server lets its calls finish, and the next call goes to the new one', async t => {
  const { server, entry } = await openFixture(t, 'stdio', newestLegacy, 'a')
  const app = await withServers(t, { a: entry })
  const client = await createClient(app, {
    elicit: async () => {
      await release
      return { action: 'accept', content: { name: 'Ada' } }
    }
  })
  let letGo = (): void => {}
  const release = new Promise<void>(resolve => { letGo = resolve })
  await until(has(client, 'a__ask_form'))
  const former = await upstreamOf(app, 'a').shared()
  const answer = client.request('tools/call', { name: 'a__ask_form', arguments: {} })
  await until(() => server.runs.get('ask_form') === 1)
  await app.mcp.upstreams.configure([{ ...entryOf(app, 'a'), timeout: 1_234 }])
  const next = await inTime(upstreamOf(app, 'a').shared(), 'the new one')
  t.not(next, former)
  t.equal(former.closed, false)
  letGo()
  t.match(await inTime(answer, 'the answer'), { content: [{ text: /Ada/ }] })
  await until(() => former.closed)
  t.match(await client.request('tools/call', { name: 'a__echo', arguments: { text: 'hi' } }), {
    content: [{ text: 'hi' }]
  })
  t.equal(server.runs.get('ask_form'), 1)
})

t.test('configurations are taken over one after the other, and none after the gateway closed', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy, 'a')
  const app = await withServers(t, { a: { ...entry, start: 'lazy' } })
  const one = entryOf(app, 'a')
  await Promise.all([
    app.mcp.upstreams.configure([]),
    app.mcp.upstreams.configure([one, { ...one, alias: 'b' }]),
    app.mcp.upstreams.configure([{ ...one, alias: 'c' }])
  ])
  t.strictSame(app.mcp.upstreams.status().map(({ alias }) => alias), ['c'])
  await app.close()
  await app.mcp.upstreams.configure([{ ...one, start: 'eager' }])
  t.equal(app.mcp.upstreams.get('a'), undefined)
})

t.test('a gateway is ready, and serves the others, while a server never answers', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy, 'good')
  const app = await withServers(t, {
    silent: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
    missing: { command: 'no-such-program-anywhere' },
    good: entry
  })
  const client = await createClient(app)
  await until(has(client, 'good__echo'))
  t.match(await client.request('tools/call', { name: 'good__echo', arguments: { text: 'hi' } }), {
    content: [{ text: 'hi' }]
  })
  t.equal(upstreamOf(app, 'silent').status.state, 'starting')
  await until(() => upstreamOf(app, 'missing').status.lastError !== undefined)
  const failure = await upstreamOf(app, 'missing').shared().then(() => undefined, (error: unknown) => error)
  t.match(failure, { message: /The upstream server missing is not available/ })
  t.notMatch(failure, { message: /no-such-program/ })
})

for (const revision of [newestLegacy, modern]) {
  t.test(
    `clients with the same id and progress token get their own answers and progress from a server of ${revision.version}`,
    async t => {
      const { entry } = await openFixture(t, 'stdio', revision, 'a')
      const app = await withServers(t, { a: entry })
      const clients = await Promise.all([createClient(app), createClient(app), createClient(app)])
      for (const client of clients) await until(has(client, 'a__steps'))
      const answers = await Promise.all(
        clients.map(async (client, index) => {
          const _meta = { progressToken: 'same' }
          const [echo] = await Promise.all([
            client.request('tools/call', { name: 'a__echo', arguments: { text: `client ${index}` } }),
            client.request('tools/call', { name: 'a__steps', arguments: {}, _meta })
          ])
          return (echo.content as Array<{ text: string }>)[0]?.text
        })
      )
      t.strictSame(answers, ['client 0', 'client 1', 'client 2'])
      for (const { notifications } of clients) {
        const progress = notifications.filter(({ method }) => method === 'notifications/progress')
        t.strictSame(
          progress.map(({ params }) => params['progressToken']),
          ['same', 'same', 'same']
        )
      }
    }
  )
}

t.test('a gateway that could not load its upstreams loads them with the next configuration', async t => {
  const app = await gateway(t)
  const { dispatcher } = app.mcp
  Object.defineProperty(dispatcher, 'awaitTargetsWith', {
    configurable: true,
    value: () => {
      throw new Error('out of memory')
    }
  })
  await t.rejects(app.mcp.upstreams.configure([createEntry()]), { message: 'out of memory' })
  Reflect.deleteProperty(dispatcher, 'awaitTargetsWith')
  await app.mcp.upstreams.configure([createEntry({ disabled: true })])
  t.equal(app.mcp.upstreams.status().length, 1)
})
