import { readdirSync, readFileSync } from 'node:fs'
import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, type Client } from '../../app.js'
import { modernMeta } from '../support/modern.js'
import { listening } from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import { openSession } from '../support/http-session.js'
import { openStream } from '../support/event-reader.js'
import { read, serving, tree, uriOf, type Json } from '../support/environment/tree.js'

const UPDATED = 'notifications/resources/updated'

/** How many folders the system watches for this process. */
function systemWatches (): number {
  return readdirSync('/proc/self/fdinfo').flatMap(fd => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('\n').filter(line => line.startsWith('inotify '))
    } catch {
      return []
    }
  }).length
}

async function watched (t: Test) {
  const root = await tree(t, { 'system.log': '0' })
  const before = systemWatches()
  const { app, url } = await listening(t, { roots: [root] })
  const file = join(root, 'system.log')
  return { app, url, root, file, uri: uriOf(file), watches: () => systemWatches() - before }
}

/** The next notification of the client. Keeps the process awake meanwhile. */
const updated = async (client: Client): Promise<Json> =>
  await within(60_000, async () => await client.notified(UPDATED))

type Next = () => Promise<Json>

/** Resolves when a client that reads the file after each notification has read this. */
async function untilRead (
  t: Test,
  { next, app, uri }: { next: Next, app: Awaited<ReturnType<typeof watched>>['app'], uri: string },
  text: string | undefined
): Promise<void> {
  const reader = await createClient(app)
  for (;;) {
    const message = await next()
    if (message.method !== UPDATED) continue
    t.match(message.params, { uri })
    const found = await read(reader, uri).then(
      contents => contents.text,
      () => undefined
    )
    if (found === text) break
  }
  reader.close()
}

async function changes (t: Test, setting: Awaited<ReturnType<typeof watched>>, next: Next): Promise<void> {
  const { file, root } = setting
  const watching = { ...setting, next }
  await writeFile(file, 'changed')
  await untilRead(t, watching, 'changed')
  await writeFile(join(root, 'other'), 'replaced')
  await rename(join(root, 'other'), file)
  await untilRead(t, watching, 'replaced')
  await rm(file)
  await untilRead(t, watching, undefined)
  await writeFile(file, 'made anew')
  await untilRead(t, watching, 'made anew')
}

async function socketTo (
  t: Test,
  url: string
): Promise<{ socket: WebSocket, send: (message: object) => void, next: Next }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  const messages: Json[] = []
  socket.on('message', data => {
    messages.push(JSON.parse(String(data)) as Json)
  })
  await within(60_000, async signal => await once(socket, 'open', { signal }))
  return {
    socket,
    send: message => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message })),
    next: async () =>
      await within(60_000, async signal => {
        while (messages.length === 0) await once(socket, 'message', { signal })
        return messages.shift() as Json
      })
  }
}

const linux = { skip: process.platform !== 'linux' && 'folders are watched with inotify of Linux' }
const listen = (uris: string[]) => ({
  id: 1,
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions: uris }, _meta: modernMeta() }
})

t.test('in process: a change, a replacement, the removal and a new file are notified', linux, async t => {
  const setting = await watched(t)
  const client = await createClient(setting.app)
  t.strictSame(await client.request('resources/subscribe', { uri: setting.uri }), {})
  await changes(t, setting, async () => ({ method: UPDATED, params: await updated(client) }))
  t.equal(setting.watches(), 1)
  await client.request('resources/unsubscribe', { uri: setting.uri })
  await until(() => setting.watches() === 0)
})

t.test('HTTP with a session: the same, until the session ends', linux, async t => {
  const setting = await watched(t)
  const session = await openSession(setting.url)
  const stream = await session.listen()
  t.match(await session.post({ id: 2, method: 'resources/subscribe', params: { uri: setting.uri } }), {
    body: { result: {} }
  })
  await changes(t, setting, async () => await stream.message())
  t.equal(setting.watches(), 1)
  await session.end()
  await until(() => setting.watches() === 0)
  stream.drop()
})

t.test('HTTP without a handshake: the same, until the stream is dropped', linux, async t => {
  const setting = await watched(t)
  const headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen'
  }
  const uris = [setting.uri, uriOf(setting.root, 'missing'), uriOf(setting.root, '..', 'outside')]
  const stream = await openStream(`${setting.url}/mcp`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', ...listen(uris) })
  })
  t.match(
    await stream.message(),
    { params: { notifications: { resourceSubscriptions: [setting.uri] } } },
    'what is not there is not promised'
  )
  await changes(t, setting, async () => await stream.message())
  t.equal(setting.watches(), 1)
  stream.drop()
  await until(() => setting.watches() === 0)
})

t.test('WebSocket with a handshake: the same, until the socket closes', linux, async t => {
  const setting = await watched(t)
  const { socket, send, next } = await socketTo(t, setting.url)
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  })
  t.match(await next(), { id: 1, result: { capabilities: { resources: { subscribe: true } } } })
  send({ id: 2, method: 'resources/subscribe', params: { uri: setting.uri } })
  t.match(await next(), { id: 2, result: {} })
  await changes(t, setting, next)
  t.equal(setting.watches(), 1)
  socket.close()
  await until(() => setting.watches() === 0)
})

t.test('WebSocket without a handshake: the same, until the subscription is cancelled', linux, async t => {
  const setting = await watched(t)
  const { send, next } = await socketTo(t, setting.url)
  send(listen([setting.uri]))
  t.match(await next(), { params: { notifications: { resourceSubscriptions: [setting.uri] } } })
  await changes(t, setting, next)
  t.equal(setting.watches(), 1)
  send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(() => setting.watches() === 0)
})

t.test('a hundred clients of one folder share one watch, and none is left when the server ends', linux, async t => {
  const { app, uri, root, watches } = await watched(t)
  await writeFile(join(root, 'second'), '')
  const clients = await Promise.all(Array.from({ length: 100 }, async () => await createClient(app)))
  await Promise.all(
    clients.map(
      async (client, count) =>
        await client.request('resources/subscribe', { uri: count % 2 === 0 ? uri : uriOf(root, 'second') })
    )
  )
  t.equal(watches(), 1)
  for (const client of clients.slice(0, 99)) client.close()
  await writeFile(join(root, 'second'), '1')
  await updated(clients[99] as Client)
  await app.close()
  t.equal(watches(), 0)
})

t.test('a link is notified when it changes and when its target does', async t => {
  const root = await tree(t, { 'a/target': '', 'a/next': '' })
  await symlink('a/target', join(root, 'link'))
  const { client } = await serving(t, [root])
  await client.request('resources/subscribe', { uri: uriOf(root, 'link') })
  await writeFile(join(root, 'a/target'), '1')
  t.strictSame(await updated(client), { uri: uriOf(root, 'link') })
  await symlink('a/next', join(root, 'new'))
  await rename(join(root, 'new'), join(root, 'link'))
  t.strictSame(await updated(client), { uri: uriOf(root, 'link') })
})

t.test('a folder that goes with its file leaves the subscription silent and the server well', async t => {
  const root = await tree(t, { 'sub/a': '', b: 'still here' })
  const { client } = await serving(t, [root])
  const uri = uriOf(root, 'sub/a')
  await client.request('resources/subscribe', { uri })
  await rm(join(root, 'sub'), { recursive: true })
  t.strictSame(await updated(client), { uri })
  await t.rejects(client.request('resources/subscribe', { uri: uriOf(root, 'sub/b') }), { code: -32002 })
  t.match(await read(client, uriOf(root, 'b')), { text: 'still here' })
  t.strictSame(await client.request('resources/unsubscribe', { uri }), {})
})
