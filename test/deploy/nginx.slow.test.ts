import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { startNginx, withNginx } from '../support/environment/nginx.js'
import { TLS } from '../support/environment/tls.js'
import { openEvents, type Json } from '../support/event-reader.js'
import { ADA, bearer, listed } from '../support/keys.js'
import { FIXTURE, launch } from '../support/process.js'
import { until } from '../support/wait.js'

const HEADERS = {
  host: 'mcp.example.com',
  ...bearer(ADA),
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream'
}
const initialize = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' }
  }
}
const echo = (length: number) => ({
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'x'.repeat(length) } }
})
/** Another address than that of the proxy; macOS has one of its loopback addresses only. */
const CLIENT = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'
const rpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })

/** The shipped command, with the options that docs/behind-a-proxy.md names, behind nginx. */
async function proxied (t: Test, { secure = false } = {}) {
  const gateway = launch(t, ['--port', '0', '--ephemeral', '--plugin', FIXTURE], {
    env: {
      PATCHBAY_API_KEYS: JSON.stringify([listed('ada', ADA)]),
      PATCHBAY_ALLOWED_HOSTS: 'mcp.example.com',
      PATCHBAY_TRUST_PROXY: '127.0.0.1'
    }
  })
  const behind = await gateway.url()
  const { port, securePort } = await startNginx(t, new URL(behind).host)
  const send = async (
    path: string,
    message: object,
    headers: Record<string, string> = {},
    localAddress = '127.0.0.1'
  ) => {
    const options = {
      host: '127.0.0.1',
      path,
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      agent: false,
      localAddress
    }
    const outgoing = secure
      ? httpsRequest({ ...options, port: securePort, ca: TLS.cert, servername: 'localhost' })
      : httpRequest({ ...options, port })
    outgoing.end(rpc(message))
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage]
    const body = await text(reply)
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: (/^\{/.test(body) ? JSON.parse(body) : {}) as Json & { result?: { content: Array<{ text: string }> } }
    }
  }
  const session = async () => {
    const { headers } = await send('/mcp', initialize)
    const id = { 'mcp-session-id': String(headers['mcp-session-id']) }
    await send('/mcp', { method: 'notifications/initialized' }, id)
    return id
  }
  return { gateway, port, securePort, send, session }
}

t.test('behind nginx with deploy/nginx.conf', withNginx, async t => {
  const { gateway, port, securePort, send, session } = await proxied(t)

  t.test('a call is answered, and the audit line has the name of the caller', async t => {
    const { status, body } = await send('/mcp', echo(5), await session())
    t.match({ status, body }, { status: 200, body: { result: { content: [{ text: 'xxxxx' }] } } })
    await until(() => gateway.stderr.includes('tools/call echo ok'))
    t.match(gateway.stderr, /tools\/call echo ok \d+\.\d ms \(ada, http\)/)
  })

  t.test('messages of 100 KiB and of nearly 4 MB pass in both directions; a larger one is 413', async t => {
    const id = await session()
    for (const length of [100 * 1024, 4_000_000]) {
      t.equal((await send('/mcp', echo(length), id)).body.result?.content[0]?.text.length, length)
    }
    t.equal((await send('/mcp', echo(4 * 1024 * 1024), id)).status, 413)
  })

  t.test('an event is passed on at once: a question comes before the answer that it waits for', async t => {
    const id = await session()
    const messages: Json[] = []
    await openEvents(
      port,
      '/mcp',
      { ...HEADERS, ...id },
      data => {
        if (data !== '') messages.push(JSON.parse(data) as Json)
      },
      rpc({ id: 7, method: 'tools/call', params: { name: 'ask_name' } })
    )
    await until(() => messages.length === 1)
    t.match(messages[0], { method: 'elicitation/create' })
    await send('/mcp', { id: messages[0]?.['id'], result: { action: 'accept', content: { name: 'Ada' } } }, id)
    await until(() => messages.length === 2)
    t.match(messages[1], { id: 7, result: { content: [{ text: 'Hello, Ada!' }] } })
  })

  t.test('progress comes over a stream, and a client whose connection broke resumes it with GET', async t => {
    const id = await session()
    let last = ''
    const first = await openEvents(
      port,
      '/mcp',
      { ...HEADERS, ...id },
      (_data, event) => {
        last = event.id ?? last
      },
      rpc({
        id: 8,
        method: 'tools/call',
        params: { name: 'slow', arguments: { steps: 3, delay: 300 }, _meta: { progressToken: 'p' } }
      })
    )
    await until(() => last !== '')
    await first.close()
    const rest: Json[] = []
    const second = await openEvents(port, '/mcp', { ...HEADERS, ...id, 'last-event-id': last }, data => {
      if (data !== '') rest.push(JSON.parse(data) as Json)
    })
    t.equal(second.status, 200)
    await until(() => rest.some(message => message['id'] === 8))
    t.match(rest.at(-1), { id: 8, result: { content: [{ text: '3 steps' }] } })
    t.match(rest.at(-2), { method: 'notifications/progress', params: { progress: 3 } })
    await second.close()
  })

  t.test('WebSocket, also over TLS', async t => {
    for (const [url, options] of [
      [`ws://127.0.0.1:${port}/mcp`, {}],
      [`wss://127.0.0.1:${securePort}/mcp`, { ca: TLS.cert, servername: 'localhost' }]
    ] as const) {
      const { host, authorization } = HEADERS
      const socket = new WebSocket(url, { headers: { host, authorization }, ...options })
      t.teardown(() => socket.terminate())
      await once(socket, 'open')
      socket.send(rpc(initialize))
      await once(socket, 'message')
      socket.send(rpc(echo(100 * 1024)))
      const [data] = (await once(socket, 'message')) as [Buffer]
      t.match(JSON.parse(String(data)), { id: 1, result: { content: [{ text: 'x'.repeat(100 * 1024) }] } }, url)
    }
  })

  t.test('a refused request has the address of the client, not one that it made up', async t => {
    const { status } = await send(
      '/mcp',
      echo(1),
      { authorization: 'Bearer pb_wrong', 'x-forwarded-for': '203.0.113.9' },
      CLIENT
    )
    t.equal(status, 401)
    await until(() => gateway.stderr.includes('refused 401'))
    t.match(gateway.stderr, `"msg":"POST /mcp refused 401: unknown key (${CLIENT})"`)
    t.notMatch(gateway.stderr, '203.0.113.9')
  })

  t.test('a health probe needs no credential', async t => {
    const { status } = await fetch(`http://127.0.0.1:${port}/health`)
    t.equal(status, 200)
  })
})

t.test('nginx has the certificate, and the gateway speaks plain HTTP behind it', withNginx, async t => {
  const { send, session } = await proxied(t, { secure: true })
  t.match(await send('/mcp', echo(3), await session()), {
    status: 200,
    body: { result: { content: [{ text: 'xxx' }] } }
  })
})
