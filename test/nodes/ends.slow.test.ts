import t from 'tap'
import { at, callOf, onSharedRedis, onSharedStores, pairOf, type Node } from '../support/environment/nodes.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { allKeys, redisLink } from '../support/environment/redis-commands.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { openSession, post, slow } from '../support/http-session.js'
import { ADA, apiKeys, bearer } from '../support/keys.js'
import { until } from '../support/wait.js'

const IDLE = 3_000
const JSON_TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const HELLO = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
}

t.test(
  'a session that is used at one node is not ended by another, and one that is used nowhere ends everywhere',
  withRedis,
  async t => {
    const shares = [{ data: await dataFolder(t) }, { redis: (await redisServer(t)).url }]
    await Promise.all(
      shares.map(async share => {
        const [one, two] = await pairOf(t, { ...share, sessionIdle: IDLE })
        const session = await openSession(one.url)
        // A stream that is only open counts as use.
        const stream = await at(two, session).listen()
        await until(() => one.app.mcp.sessions.size === 0, 'the first node ends what it serves no more')
        t.equal(two.app.mcp.sessions.size, 1)
        t.ok(await one.app.mcp.store.sessions.load(session.id))
        t.equal((await session.post({ id: 1, method: 'ping' })).status, 200, 'the first node serves it again')
        stream.drop()
        await until(() => one.app.mcp.sessions.size + two.app.mcp.sessions.size === 0, 'the end of the session')
        for (const node of [one, two]) t.equal((await at(node, session).post({ id: 1, method: 'ping' })).status, 404)
        t.equal(await one.app.mcp.store.sessions.load(session.id), undefined)
      })
    )
  }
)

onSharedStores(t, (t, share) => {
  t.test('a session of a view is served at the same URL of another node, and at no other', async t => {
    const [one, two] = await pairOf(t, await share(t))
    for (const { app } of [one, two]) for (const alias of ['alpha', 'beta']) app.mcp.views.open(alias)
    const ask = async ({ url }: Node, path: string, message: object, id = ''): Promise<Response> =>
      await fetch(url + path, {
        method: 'POST',
        headers: { ...JSON_TYPES, ...(id === '' ? {} : { 'mcp-session-id': id }) },
        body: JSON.stringify({ jsonrpc: '2.0', ...message })
      })
    const id = (await ask(one, '/mcp/alpha', HELLO)).headers.get('mcp-session-id') ?? ''
    const tools = await (await ask(one, '/mcp/alpha', { id: 1, method: 'tools/list' }, id)).text()
    for (const node of [two, one, two]) {
      for (const path of ['/mcp', '/mcp/beta']) {
        t.equal((await ask(node, path, { id: 1, method: 'ping' }, id)).status, 404)
      }
      t.equal(await (await ask(node, '/mcp/alpha', { id: 1, method: 'tools/list' }, id)).text(), tools)
    }
    t.equal((await fetch(`${two.url}/mcp/alpha`, { method: 'DELETE', headers: { 'mcp-session-id': id } })).status, 200)
    await until(
      async () => (await ask(one, '/mcp/alpha', { id: 1, method: 'ping' }, id)).status === 404,
      'the end at the other node'
    )
  })
})

onSharedRedis(t, (t, share) => {
  t.test('a session that is ended leaves no key', async t => {
    const shared = await share(t)
    const [one, two] = await pairOf(t, { ...shared, apiKeys })
    const link = await redisLink(t, String(shared.redis))
    // Nodes publish their options when they come to it, and renew them.
    const ofOptions = `${String(shared.redisPrefix)}{v:node options}`
    const keys = async (): Promise<string[]> =>
      (await allKeys(link)).filter(key => key.startsWith(String(shared.redisPrefix)) && !key.startsWith(ofOptions))
    const before = await keys()
    const id = (await post(one.url, HELLO, bearer(ADA))).headers.get('mcp-session-id') ?? ''
    const headers = { ...bearer(ADA), 'mcp-session-id': id }
    await post(two.url, { id: 1, method: 'resources/subscribe', params: { uri: 'server://counter' } }, headers)
    await (
      await fetch(`${two.url}/mcp`, {
        method: 'POST',
        headers: { ...JSON_TYPES, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...slow(2, 3, 1) })
      })
    ).text()
    one.app.mcp.sessions.find(id, 'ada')?.peer.notify('notifications/message', { level: 'info', data: 'stored' })
    await until(
      async () => (await keys()).length >= before.length + 3,
      'the keys of the session, its events and its caller'
    )
    t.equal((await fetch(`${two.url}/mcp`, { method: 'DELETE', headers })).status, 200)
    await until(async () => (await keys()).every(key => before.includes(key)), 'the removal of all keys')
    t.strictSame(await keys(), before)
    t.equal((await post(one.url, callOf(3, 'echo', { text: 'hi' }), headers)).status, 404)
  })
})
