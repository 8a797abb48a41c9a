import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, prompt, resource, tool } from '../../app.js'
import { openStream, type EventReader, type Json } from '../support/event-reader.js'
import fixture, { gateway, listening } from '../support/gateway.js'
import { modernMeta } from '../support/modern.js'
import { Inbox } from '../support/wait.js'

const VERSION = '2025-11-25'
const initialize = {
  method: 'initialize',
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
}
const LIST_CHANGED = 'notifications/tools/list_changed'

/** A client at the URL of a view, over one transport. */
interface ViewClient {
  /** The answer to `initialize` or `server/discover`. */
  server: Json
  ask: (method: string, params?: Json) => Promise<Json>
  /** The method of the next notification; absent where the transport has none. */
  notified?: () => Promise<unknown>
}

type Connect = (t: Test, url: string, view: string) => Promise<ViewClient>

/** Fills a view and the gateway with tools of the same names, so that a mistake would be seen. */
function fill (app: FastifyInstance): void {
  const { views, tools, prompts, resources } = app.mcp
  const view = views.open('alpha')
  view.instructions = 'Instructions of alpha.'
  view.tools.add(tool({ name: 'echo', description: 'of alpha', run: () => 'from alpha' }))
  view.prompts.add(
    prompt({ name: 'introduce', arguments: { who: { complete: () => ['alpha person'] } }, get: () => 'alpha prompt' })
  )
  view.resources.add(resource({ uri: 'test://text', name: 'text', read: () => 'alpha text' }))
  view.resources.add(
    resource({
      uri: 'alpha://{id}',
      name: 'items',
      complete: { id: () => ['alpha item'] },
      read: ({ id }) => `alpha ${id}`
    })
  )
  views.open('beta').tools.add(tool({ name: 'only_beta', description: 'of beta', run: () => 'from beta' }))
  tools.add(tool({ name: 'whole', description: 'of the gateway', run: () => 'whole' }))
  prompts.add(prompt({ name: 'whole', get: () => 'whole' }))
  resources.add(resource({ uri: 'whole://text', name: 'whole', read: () => 'whole' }))
}

const filled = { plugins: [fixture, async (app: FastifyInstance) => fill(app)] }

const body = (method: string, params: Json = {}, id: number | undefined = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function post (
  url: string,
  text: string,
  headers: Record<string, string> = {}
): Promise<{ response: Response, answer: Json }> {
  const response = await fetch(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: text })
  const answer = await response.text()
  return { response, answer: (answer === '' ? {} : JSON.parse(answer)) as Json }
}

async function methodOf (stream: EventReader): Promise<unknown> {
  return (await stream.message()).method
}

async function openSession (t: Test, url: string): Promise<ViewClient> {
  const { response, answer: server } = await post(url, body(initialize.method, initialize.params))
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  const stream = await openStream(url, { headers: session })
  t.teardown(() => stream.drop())
  return {
    server,
    ask: async (method, params) => (await post(url, body(method, params), session)).answer,
    notified: async () => await methodOf(stream)
  }
}

const transports: Record<string, Connect> = {
  'modern HTTP': async (t, url, view) => {
    const headersOf = (method: string, params: Json) => ({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof (params.name ?? params.uri) === 'string' ? { 'mcp-name': String(params.name ?? params.uri) } : {})
    })
    const listen = { notifications: { toolsListChanged: true }, _meta: modernMeta() }
    const stream = await openStream(`${url}/mcp/${view}`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headersOf('subscriptions/listen', {}) },
      body: body('subscriptions/listen', listen)
    })
    t.teardown(() => stream.drop())
    await stream.message()
    const ask = async (method: string, params: Json = {}): Promise<Json> =>
      (await post(`${url}/mcp/${view}`, body(method, { ...params, _meta: modernMeta() }), headersOf(method, params)))
        .answer
    return {
      server: await ask('server/discover'),
      ask,
      notified: async () => await methodOf(stream)
    }
  },
  'HTTP with a session': async (t, url, view) => await openSession(t, `${url}/mcp/${view}`),
  'POST /message': async (_t, url, view) => {
    const ask = async (method: string, params?: Json): Promise<Json> =>
      (await post(`${url}/message/${view}`, body(method, params), { 'mcp-protocol-version': VERSION })).answer
    return { server: await ask(initialize.method, initialize.params), ask }
  },
  'HTTP+SSE': async (t, url, view) => {
    const stream = await openStream(`${url}/sse/${view}`)
    t.teardown(() => stream.drop())
    const endpoint = (await stream.event())?.data ?? ''
    t.match(endpoint, new RegExp(`^/message/${view}\\?sessionId=`))
    const ask = async (method: string, params: Json = {}): Promise<Json> => {
      await fetch(`${url}${endpoint}`, { method: 'POST', headers: JSON_HEADERS, body: body(method, params) })
      return await stream.message()
    }
    return {
      server: await ask(initialize.method, initialize.params),
      ask,
      notified: async () => await methodOf(stream)
    }
  },
  WebSocket: async (t, url, view) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp/${view}`, 'mcp')
    const inbox = new Inbox<Json>()
    socket.on('message', data => inbox.push(JSON.parse(String(data)) as Json))
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    const ask = async (method: string, params?: Json): Promise<Json> => {
      socket.send(body(method, params))
      return await inbox.next()
    }
    return {
      server: await ask(initialize.method, initialize.params),
      ask,
      notified: async () => (await inbox.next()).method
    }
  }
}

for (const [name, connect] of Object.entries(transports)) {
  t.test(`${name}: a client of a view sees what that upstream has, by its bare names, and nothing else`, async t => {
    const { url } = await listening(t, filled)
    const { server, ask } = await connect(t, url, 'alpha')
    t.match(server, { result: { instructions: 'Instructions of alpha.' } })
    const names = async (method: string, member: string, key: string): Promise<unknown[]> =>
      ((await ask(method)).result as Record<string, Json[]>)[member]?.map(item => item[key]) ?? []
    t.strictSame(await names('tools/list', 'tools', 'name'), ['echo'])
    t.strictSame(await names('prompts/list', 'prompts', 'name'), ['introduce'])
    t.strictSame(await names('resources/list', 'resources', 'uri'), ['test://text'])
    t.strictSame(await names('resources/templates/list', 'resourceTemplates', 'uriTemplate'), ['alpha://{id}'])
    t.match(await ask('tools/call', { name: 'echo', arguments: {} }), { result: { content: [{ text: 'from alpha' }] } })
    t.match(await ask('prompts/get', { name: 'introduce', arguments: {} }), {
      result: { messages: [{ content: { text: 'alpha prompt' } }] }
    })
    t.match(await ask('resources/read', { uri: 'test://text' }), { result: { contents: [{ text: 'alpha text' }] } })
    t.match(await ask('resources/read', { uri: 'alpha://7' }), { result: { contents: [{ text: 'alpha 7' }] } })
    t.match(
      await ask('completion/complete', {
        ref: { type: 'ref/prompt', name: 'introduce' },
        argument: { name: 'who', value: '' }
      }),
      { result: { completion: { values: ['alpha person'] } } }
    )
    t.match(
      await ask('completion/complete', {
        ref: { type: 'ref/resource', uri: 'alpha://{id}' },
        argument: { name: 'id', value: '' }
      }),
      { result: { completion: { values: ['alpha item'] } } }
    )
    for (const other of ['whole', 'only_beta', 'alpha__echo', 'calculate']) {
      t.match(
        await ask('tools/call', { name: other, arguments: {} }),
        { error: { code: -32602 } },
        `${other} is not there`
      )
    }
    t.match(await ask('prompts/get', { name: 'whole', arguments: {} }), { error: { code: -32602 } })
    t.match(await ask('resources/read', { uri: 'whole://text' }), { error: {} })
  })

  t.test(`${name}: a client of a view hears of changes of its lists, and of no others`, async t => {
    const { app, url } = await listening(t, filled)
    const { ask, notified } = await connect(t, url, 'alpha')
    if (notified === undefined) return
    app.mcp.tools.add(tool({ name: 'later', description: 'of the gateway', run: () => '' }))
    app.mcp.views.open('beta').tools.remove('only_beta')
    await ask(name === 'modern HTTP' ? 'tools/list' : 'ping')
    app.mcp.views.open('alpha').prompts.remove('introduce')
    app.mcp.views.open('alpha').tools.add(tool({ name: 'added', description: 'of alpha', run: () => '' }))
    const heard = [await notified()]
    if (heard[0] !== LIST_CHANGED) heard.push(await notified())
    t.strictSame(heard.filter(method => method === LIST_CHANGED), [LIST_CHANGED])
    t.match(await ask('tools/list'), { result: { tools: [{ name: 'added' }, { name: 'echo' }] } })
  })
}

t.test('clients of the whole gateway hear nothing of a view', async t => {
  const app = await gateway(t, filled)
  const client = await createClient(app)
  app.mcp.views.open('alpha').tools.remove('echo')
  await client.request('ping')
  app.mcp.prompts.remove('whole')
  await client.notified('notifications/prompts/list_changed')
  t.strictSame(client.notifications, [])
})

t.test('a subscription in a view is told of the changes of that view', async t => {
  const app = await gateway(t, filled)
  const [inView, inWhole] = [await createClient(app, { view: 'alpha' }), await createClient(app)]
  for (const client of [inView, inWhole]) await client.request('resources/subscribe', { uri: 'test://text' })
  app.mcp.resources.updated('test://text')
  await inWhole.notified('notifications/resources/updated')
  t.strictSame(inView.notifications, [])
  app.mcp.views.open('alpha').resources.updated('test://text')
  t.match(await inView.notified('notifications/resources/updated'), { uri: 'test://text' })
  t.strictSame(inWhole.notifications, [])
})

t.test('a cursor of one view leads nowhere in another, nor in the whole gateway', async t => {
  const app = await gateway(t, { pageSize: 1 })
  for (const view of ['alpha', 'beta']) {
    for (const name of ['one', 'two']) {
      app.mcp.views.open(view).tools.add(tool({ name, description: view, run: () => '' }))
    }
  }
  const [alpha, beta, whole] = [
    await createClient(app, { view: 'alpha' }),
    await createClient(app, { view: 'beta' }),
    await createClient(app)
  ]
  const { nextCursor } = await alpha.request('tools/list')
  t.match(await alpha.request('tools/list', { cursor: nextCursor }), { tools: [{ name: 'two', description: 'alpha' }] })
  for (const other of [beta, whole]) {
    await t.rejects(other.request('tools/list', { cursor: nextCursor }), { code: -32602 })
  }
})

t.test(
  'a view that is closed is empty for the clients it has and unknown to new ones, until it is opened again',
  async t => {
    const app = await gateway(t, filled)
    const client = await createClient(app, { view: 'alpha' })
    app.mcp.views.close('alpha')
    await client.notified(LIST_CHANGED)
    t.strictSame((await client.request('tools/list')).tools, [])
    await t.rejects(client.call('echo'), { code: -32602 })
    await t.rejects(
      client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'introduce' },
        argument: { name: 'who', value: '' }
      }),
      { code: -32602 }
    )
    await t.rejects(createClient(app, { view: 'alpha' }), {
      code: -32602,
      message: /there is no view or upstream server "alpha"/
    })
    t.equal(
      (await app.inject({ method: 'POST', url: '/message/alpha', payload: body('ping'), headers: JSON_HEADERS }))
        .statusCode,
      404
    )
    app.mcp.views.open('alpha').tools.add(tool({ name: 'again', description: 'of alpha', run: () => 'again' }))
    t.match(await client.call('again'), { text: 'again' })
    t.equal(
      (await app.inject({ method: 'POST', url: '/message/alpha', payload: body('ping'), headers: JSON_HEADERS }))
        .statusCode,
      200
    )
  }
)
