import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import { inTime, until } from '../support/wait.js'
import { asJson, asStream, host, modernPost } from '../support/host.js'
import { messagesOf } from '../support/event-reader.js'
import { TLS } from '../support/environment/tls.js'

interface Post { headers: Record<string, string>, body: string }

interface Client {
  send: (path: string, post?: Post) => Promise<{ status: number, body: string }>
  /** Fastify waits for HTTP/2 clients to end their sessions. */
  leave: () => void
}

/** A host behind TLS; its route `/own/slow` answers when the test lets it. */
async function secure (t: Test, server: object, grace = 100) {
  const own = new EventEmitter()
  const slow = (app: FastifyInstance) =>
    app.get('/own/slow', async () => {
      own.emit('started')
      await once(own, 'go')
      return { slow: true }
    })
  const app = await host(t, slow, { grace }, { https: TLS, ...server } as FastifyServerOptions)
  return { app, own, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

function overHttps (_t: Test, url: string): Client {
  const send = async (path: string, post?: Post) => {
    const outgoing = request(`${url}${path}`, {
      rejectUnauthorized: false,
      method: post === undefined ? 'GET' : 'POST',
      headers: post?.headers ?? {}
    })
    outgoing.end(post?.body)
    const [response] = await once(outgoing, 'response') as [IncomingMessage]
    return { status: response.statusCode ?? 0, body: await text(response) }
  }
  return { send, leave: () => {} }
}

function overHttp2 (t: Test, url: string): Client {
  const session = connect(url, { rejectUnauthorized: false })
  t.teardown(() => session.destroy())
  session.on('error', () => {})
  const send = async (path: string, post?: Post) => {
    const stream = session.request({ ':path': path, ':method': post === undefined ? 'GET' : 'POST', ...post?.headers })
    let status = 0
    stream.once('response', headers => { status = Number(headers[':status']) })
    stream.end(post?.body)
    return { body: await text(stream), status }
  }
  return { send, leave: () => session.close() }
}

const post = ({ headers, payload }: typeof asJson) => ({
  headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify(payload)
})

const HOSTS: Record<string, { server: object, client: (t: Test, url: string) => Client }> = {
  HTTPS: { server: {}, client: overHttps },
  'HTTP/2': { server: { http2: true }, client: overHttp2 }
}

for (const [kind, { server, client }] of Object.entries(HOSTS)) {
  t.test(`a host of ${kind} serves MCP beside its own routes`, async t => {
    const { url } = await secure(t, server)
    const { send, leave } = client(t, url)
    t.match(JSON.parse((await send('/own')).body), { own: true })
    t.match(JSON.parse((await send('/ai/health')).body), { status: 'healthy' })
    t.match(JSON.parse((await send('/ai/mcp', post(asJson))).body), {
      id: 1,
      result: { structuredContent: { text: 'hi' } }
    })
    t.match(messagesOf((await send('/ai/mcp', post(asStream))).body), [
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { id: 1, result: {} }
    ])
    leave()
  })

  t.test(`closing a host of ${kind} lets its own request finish that is in flight`, async t => {
    const { app, own, url } = await secure(t, server)
    const { send, leave } = client(t, url)
    const started = once(own, 'started')
    const answer = send('/own/slow')
    await inTime(started, 'the request')
    const closed = app.close()
    await until(() => !app.server.listening)
    own.emit('go')
    t.match(await inTime(answer, 'the answer'), { status: 200, body: '{"slow":true}' })
    leave()
    await inTime(closed, 'the end')
  })

  t.test(`closing a host of ${kind} lets a reply finish beside one that takes longer`, async t => {
    const { app, own, url } = await secure(t, server, 60_000)
    const { send, leave } = client(t, url)
    const started = once(own, 'started')
    const answer = send('/own/slow')
    await inTime(started, 'the request')
    const call = send('/ai/mcp', post(modernPost('slow', { steps: 3, delay: 20 })))
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 1)
    const closed = app.close()
    t.match(messagesOf((await inTime(call, 'the answer of the tool')).body).at(-1), { id: 1, result: {} })
    await until(() => !app.server.listening)
    own.emit('go')
    t.match(await inTime(answer, 'the answer of the host'), { status: 200 })
    leave()
    await inTime(closed, 'the end')
  })
}
