import { once } from 'node:events'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { patchbay, type Options } from '../../app.js'
import { ANONYMOUS_ALL_SCOPES } from '../../protocol/wire/identity.js'
import { startIssuer } from '../support/environment/issuer.js'
import { onSharedRedis, onSharedStores, type Node } from '../support/environment/nodes.js'
import { allKeys, redisLink } from '../support/environment/redis-commands.js'
import { openStream, type EventReader, type Json } from '../support/event-reader.js'
import { listening } from '../support/gateway.js'
import { ADA, bearer, BOB, listed } from '../support/keys.js'
import { inTime, until } from '../support/wait.js'

const MINE = { apiKeys: [listed('ada', ADA, ['mcp', 'notes']), listed('bob', BOB)] }

async function ticketOf ({ url }: Node, credential: string): Promise<string> {
  const reply = await fetch(`${url}/ticket`, { method: 'POST', headers: bearer(credential) })
  return (await reply.json() as { ticket: string }).ticket
}

async function connect (t: Test, { url }: Node, ticket: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp?ticket=${ticket}`)
  t.teardown(() => socket.terminate())
  const closed = once(socket, 'close') as Promise<[number, Buffer]>
  // A socket that is refused has an error, which the wait for its opening tells.
  closed.catch(() => {})
  await inTime(once(socket, 'open'), 'the socket opens')
  const ask = async (message: object) => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const [data] = await inTime(once(socket, 'message'), 'a reply') as [Buffer]
    return JSON.parse(String(data)) as { result?: { tools: Array<{ name: string }> } }
  }
  await ask({ id: 0, method: 'initialize', params: {} })
  const tools = async () => ((await ask({ id: 1, method: 'tools/list' })).result?.tools ?? []).map(({ name }) => name)
  return { tools, closed: async () => (await inTime(closed, 'the socket closes'))[0] }
}

/** The status that the upgrade with a ticket gets. */
async function statusOf ({ url }: Node, ticket: string): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp?ticket=${ticket}`)
  socket.on('error', () => {})
  const status = await inTime(
    Promise.race([
      once(socket, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode),
      once(socket, 'open').then(() => 101)
    ]),
    'an answer to the upgrade'
  )
  socket.terminate()
  return status
}

async function two (t: Test, options: Partial<Options>, others: Partial<Options> = options): Promise<[Node, Node]> {
  return [await listening(t, options), await listening(t, others)]
}

/** An HTTP+SSE stream at one node, and posting to it at any. */
async function openSse (
  t: Test,
  { url }: Node,
  credential: string
): Promise<{ stream: EventReader, post: (node: Node, message: object, credential?: string) => Promise<Response> }> {
  const stream = await openStream(`${url}/sse`, { headers: bearer(credential) })
  t.teardown(() => stream.drop())
  const endpoint = (await stream.event())?.data ?? ''
  return {
    stream,
    post: async (node, message, shown = credential) =>
      await fetch(new URL(endpoint, node.url), {
        method: 'POST',
        headers: { ...bearer(shown), 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...message })
      })
  }
}

async function answerTo (stream: EventReader, id: number): Promise<Json> {
  for (;;) {
    const message = await stream.message()
    if (message['id'] === id) return message
  }
}

onSharedRedis(t, (t, share) => {
  t.test('a socket that was opened with a ticket of another node has the rights that its key has now', async t => {
    const [first, second] = await two(t, { ...await share(t), ...MINE })
    const { tools, closed } = await connect(t, second, await ticketOf(first, ADA))
    t.ok((await tools()).includes('add_note'))
    second.app.mcp.identities.replaceKeys([listed('ada', ADA), listed('bob', BOB)])
    t.notOk((await tools()).includes('add_note'), 'a scope is taken away')
    second.app.mcp.identities.replaceKeys([listed('bob', BOB)])
    t.equal(await closed(), 4401, 'the key is removed')
  })

  t.test('an unused ticket ends with its key, and no other does', async t => {
    const [first, second] = await two(t, { ...await share(t), ...MINE })
    const [gone, stays] = [await ticketOf(first, ADA), await ticketOf(first, BOB)]
    for (const { app } of [first, second]) app.mcp.identities.replaceKeys([listed('bob', BOB)])
    t.equal(await statusOf(second, gone), 401)
    t.equal(await statusOf(second, stays), 101)
    t.equal(await statusOf(first, stays), 401, 'and each works once')
  })

  t.test('a ticket counts at a node as its credential would', async t => {
    const store = await share(t)
    const open = await listening(t, store)
    const [first, second] = await two(t, { ...store, ...MINE }, { ...store, apiKeys: [listed('bob', BOB)] })
    t.equal(await statusOf(second, await ticketOf(first, ADA)), 401, 'the key is not known there')
    const anonymous = await open.app.mcp.identities.issueTicket({ principal: undefined, scopes: 'all' })
    const nameless = await open.app.mcp.identities.issueTicket(ANONYMOUS_ALL_SCOPES)
    for (const issued of [anonymous, nameless]) {
      t.equal(
        await statusOf(first, issued?.ticket ?? ''),
        401,
        'an anonymous caller of another node has no rights where keys are needed'
      )
    }
  })

  t.test(
    'a socket that was opened with a ticket of an access token ends with the token, at nodes that trust its issuer',
    async t => {
      const issuer = await startIssuer(t)
      const store = await share(t)
      const [first, second] = await two(t, { ...store, oauth: issuer.options })
      const stranger = await listening(t, { ...store, ...MINE })
      const token = await issuer.sign({ exp: Math.floor(Date.now() / 1_000) + 5, scope: 'mcp' })
      const [ticket, foreign] = [await ticketOf(first, token), await ticketOf(first, token)]
      t.equal(await statusOf(stranger, foreign), 401)
      const { tools, closed } = await connect(t, second, ticket)
      t.ok((await tools()).includes('echo'))
      t.equal(await closed(), 4401)
    }
  )

  t.test(
    'a ticket of a caller that a host application identified is good where one does so, until it expires',
    async t => {
      const store = await share(t)
      let expires = 0
      const host = async (): Promise<Node> => {
        const app = Fastify()
        t.teardown(async () => await app.close())
        app.decorateRequest('identity')
        app.addHook('onRequest', async request => {
          if (request.headers.authorization !== undefined) {
            request.identity = { principal: 'carol', scopes: new Set(['mcp']), expires }
          }
        })
        await app.register(patchbay, { grace: 1_000, tools: true, ...store })
        return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
      }
      const [first, second] = [await host(), await host()]
      const other = await listening(t, { ...store, ...MINE })
      expires = Date.now() + 60_000
      t.equal(await statusOf(other, await ticketOf(first, 'x')), 401)
      const { names, closed } = await servedFor(5_000)
      t.ok(names.includes('calculate'))
      t.equal(await closed(), 4401)

      /** Connects with a credential of so many milliseconds, or more where a busy machine needs them. */
      async function servedFor (ms: number): Promise<{ names: string[], closed: () => Promise<number> }> {
        expires = Date.now() + ms
        try {
          const { tools, closed } = await connect(t, second, await ticketOf(first, 'x'))
          return { names: await tools(), closed }
        } catch (error) {
          if (Date.now() < expires || ms > 60_000) throw error
          return await servedFor(2 * ms)
        }
      }
    }
  )

  t.test('a caller has at most 100 unused tickets at all nodes, and others are not concerned', async t => {
    const [first, second] = await two(t, { ...await share(t), ...MINE })
    const status = async ({ app }: Node, key: string) =>
      (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(key) })).statusCode
    const statuses = await Promise.all(
      Array.from({ length: 110 }, async (_, index) => await status(index % 2 === 0 ? first : second, ADA))
    )
    t.equal(statuses.filter(code => code === 200).length, 100)
    t.equal(statuses.filter(code => code === 429).length, 10)
    t.equal(await status(first, BOB), 200)
    t.equal(await status(second, BOB), 200)
  })

  t.test('tickets that are not used leave nothing in Redis', async t => {
    const options = await share(t)
    const { app } = await listening(t, { ...options, ...MINE, limits: { ticketLifetime: 1_000 } })
    const link = await redisLink(t, options.redis ?? '')
    t.equal((await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })).statusCode, 200)
    const left = async () =>
      (await allKeys(link)).filter(key => key.startsWith(String(options.redisPrefix)) && key.includes('tickets'))
    t.equal((await left()).length, 3)
    await until(async () => (await left()).length === 0, 'the keys have expired')
  })
})

onSharedStores(t, (t, share) => {
  t.test('what was posted at another node than that of the stream has the rights that its key has now', async t => {
    const keys = (scopes: string[]) => [listed('ada', ADA, scopes), listed('bob', BOB)]
    const [first, second] = await two(t, { ...await share(t), apiKeys: keys(['admin']) })
    const { stream, post } = await openSse(t, first, ADA)
    t.equal((await post(second, { id: 0, method: 'initialize', params: {} })).status, 202)
    await answerTo(stream, 0)
    t.equal((await post(second, { id: 1, method: 'patchbay/watch' })).status, 202)
    t.match(await stream.message(), { method: 'notifications/patchbay/watch' })
    for (const { app } of [first, second]) app.mcp.identities.replaceKeys(keys(['mcp']))
    t.match(await answerTo(stream, 1), { result: {} }, 'it is not told any more')
  })

  t.test('what is posted with a key that the node of the stream does not know is refused there', async t => {
    const next = 'pb_ada-next-6789-0123456789-0123456789-012'
    const both = [listed('ada', ADA), listed('ada', next, ['admin'])]
    const [first, second] = await two(t, { ...await share(t), apiKeys: both })
    const { stream, post } = await openSse(t, first, ADA)
    t.equal((await post(second, { id: 1, method: 'ping' }, next)).status, 202)
    await answerTo(stream, 1)
    first.app.mcp.identities.replaceKeys([listed('ada', ADA)])
    const refused = await post(second, { id: 2, method: 'ping' }, next)
    t.match(
      [refused.status, await refused.json()],
      [503, { error: { data: { code: 'PATCHBAY_CREDENTIAL_UNKNOWN_AT_NODE' } } }]
    )
    t.equal((await post(second, { id: 3, method: 'ping' })).status, 202)
    t.match(await answerTo(stream, 3), { result: {} })
  })
})
