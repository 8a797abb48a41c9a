import t, { type Test } from 'tap'
import { tool } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { client, modern, revision } from '../../support/recorder.js'
import { Speaker } from '../../support/speaker.js'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const late = () => tool({ name: 'late', description: 'd', run: () => '' })

async function listening (t: Test, notifications: object) {
  const app = await gateway(t, { http: false })
  const connected = client(app.mcp.dispatcher)
  connected.peer.revision = undefined
  const id = connected.ask('subscriptions/listen', { notifications, ...modern() })
  return { app, id, ...connected, acknowledged: await connected.channel.next() }
}

t.test('a subscription is first acknowledged with the notifications that it will get', async t => {
  const { acknowledged, id } = await listening(t, {
    toolsListChanged: true,
    promptsListChanged: false,
    resourceSubscriptions: ['test://text']
  })
  t.strictSame(acknowledged, {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: {
      _meta: { [SUBSCRIPTION]: id },
      notifications: { toolsListChanged: true, resourceSubscriptions: ['test://text'] }
    }
  })
})

t.test('a subscription gets the notifications it asked for, under its id, and no others', async t => {
  const { app, channel, id } = await listening(t, { toolsListChanged: true, resourceSubscriptions: ['test://text'] })
  app.mcp.prompts.remove('introduce')
  app.mcp.resources.updated('test://bytes')
  app.mcp.resources.updated('test://text')
  t.strictSame(await channel.next(), {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { _meta: { [SUBSCRIPTION]: id }, uri: 'test://text' }
  })
  app.mcp.tools.add(late())
  t.strictSame(await channel.next(), {
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
    params: { _meta: { [SUBSCRIPTION]: id } }
  })
})

t.test('notifications of two subscriptions of one client carry different ids', async t => {
  const { app, channel, ask, id } = await listening(t, { toolsListChanged: true })
  const other = ask('subscriptions/listen', { notifications: { toolsListChanged: true }, ...modern() })
  await channel.next()
  app.mcp.tools.add(late())
  const received = [await channel.next(), await channel.next()].map(
    ({ params }) => (params as { _meta: Record<string, unknown> })._meta[SUBSCRIPTION]
  )
  t.strictSame(received.sort(), [id, other])
})

t.test('a subscription that is cancelled ends without an answer, and gets no more notifications', async t => {
  const { app, ask, send, id, channel, peer } = await listening(t, { toolsListChanged: true })
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  t.equal(peer.inbound.size, 0)
  const other = ask('subscriptions/listen', { notifications: { toolsListChanged: true }, ...modern() })
  t.match(await channel.next(), { method: 'notifications/subscriptions/acknowledged' })
  app.mcp.tools.add(late())
  t.match(await channel.next(), { params: { _meta: { [SUBSCRIPTION]: other } } })
  t.equal(channel.sent.length, 3)
})

t.test('a server that ends answers the subscription', async t => {
  const { app, channel, id } = await listening(t, { toolsListChanged: true })
  await app.mcp.dispatcher.lifecycle.drain(Infinity)
  t.match(await channel.next(), { id, result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: id } } })
})

t.test('a subscription over a channel that cannot stream is refused', async t => {
  const app = await gateway(t, { http: false })
  const { ask, channel } = client(app.mcp.dispatcher)
  channel.streams = false
  ask('subscriptions/listen', { notifications: {}, ...modern() })
  t.match(await channel.next(), { error: { code: -32600, message: /needs a stream/ } })
})

t.test('a client with a handshake gets notifications without asking, from the handshake on', async t => {
  const app = await gateway(t, { http: false })
  const [initialized, silent] = [
    client(app.mcp.dispatcher, { revision: revision('2024-11-05') }),
    client(app.mcp.dispatcher)
  ]
  silent.peer.revision = undefined
  app.mcp.tools.add(late())
  t.strictSame(await initialized.channel.next(), { jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  t.strictSame(silent.channel.sent, [])
})

t.test('a notification to all clients is serialised once', async t => {
  const app = await gateway(t, { http: false })
  const clients = Array.from({ length: 20 }, () => client(app.mcp.dispatcher))
  const { stringify } = JSON
  let written = 0
  t.intercept(JSON, 'stringify', {
    value: (value: { method?: string }) => {
      if (value?.method === 'notifications/tools/list_changed') written++
      return stringify(value)
    }
  })
  app.mcp.tools.add(late())
  for (const { channel } of clients) t.match(await channel.next(), { method: 'notifications/tools/list_changed' })
  t.equal(written, 1)
})

t.test('a session without a stream learns once of many changes', async t => {
  const app = await gateway(t)
  const session = app.mcp.sessions.create({ revision: revision('2025-11-25') })
  if (session !== undefined) await app.mcp.sessions.save(session)
  const there = client(app.mcp.dispatcher)
  for (let count = 0; count < 5; count++) {
    app.mcp.tools.add(tool({ name: `late_${count}`, description: 'd', run: () => '' }))
    await there.channel.next()
  }
  const received: string[] = []
  session?.standalone.attach({ write: ({ text }) => { received.push(text) }, end: () => {}, close: () => {} })
  await session?.standalone.flush()
  t.strictSame(received, ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'])
})

t.test('updates of a resource are sent while it has subscribers', async t => {
  const app = await gateway(t, { http: false })
  const { request, channel } = client(app.mcp.dispatcher)
  for (let round = 0; round < 2; round++) {
    t.match(await request('resources/subscribe', { uri: 'test://item/7' }), { result: {} }, 'a template will do')
    t.match(await request('resources/subscribe', { uri: 'test://item/7' }), { result: {} }, 'twice is once')
    app.mcp.resources.updated('test://item/7')
    t.strictSame(await channel.next(), {
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'test://item/7' }
    })
    t.match(await request('resources/unsubscribe', { uri: 'test://item/7' }), { result: {} })
    app.mcp.resources.updated('test://item/7')
  }
  t.match(await request('resources/subscribe', { uri: 'test://nowhere' }), { error: { code: -32002 } })
})

t.test('a client that subscribes and disconnects again and again leaves nothing behind', async t => {
  const app = await gateway(t, { http: false })
  const { request, peer } = client(app.mcp.dispatcher)
  let closings = 0
  const { onClose } = peer
  t.intercept(peer, 'onClose', {
    value: function (closing: () => void) {
      closings++
      const off = onClose.call(peer, closing)
      return () => {
        closings--
        return off()
      }
    }
  })
  for (let round = 0; round < 50; round++) {
    await request('resources/subscribe', { uri: 'test://text' })
    await request('resources/unsubscribe', { uri: 'test://text' })
  }
  t.ok(closings <= 1, `${closings} functions wait for the end of this client`)
})

t.test('a client has at most so many subscriptions, and no watch begins for one that is refused', async t => {
  const app = await gateway(t, { http: false, limits: { maxSubscriptions: 3 } })
  const speaker = new Speaker(app, { version: '2026-07-28' })
  const uris = (count: number) => Array.from({ length: count }, (_, index) => `test://item/${index}`)
  t.match(
    await speaker.answerTo(speaker.send('subscriptions/listen', { notifications: { resourceSubscriptions: uris(4) } })),
    { error: { code: -32603, data: { max: 3 } } }
  )
  const first = await speaker.listen({ resourceSubscriptions: uris(2) })
  t.match(
    await speaker.answerTo(speaker.send('subscriptions/listen', { notifications: { resourceSubscriptions: uris(2) } })),
    { error: { code: -32603 } },
    'all of a client count'
  )
  await speaker.listen({ toolsListChanged: true })
  app.mcp.dispatcher.receive(
    app.mcp.dispatcher.decode(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: first } })
    ),
    speaker.peer,
    { streams: true, respond: () => {}, emit: () => {}, end: () => {} }
  )
  await until(() => speaker.peer.inbound.size === 1)
  // What it listened to is released when its handler ends, some microtasks after the cancellation.
  await new Promise(resolve => setImmediate(resolve))
  await speaker.listen({ resourceSubscriptions: uris(3) })
})
