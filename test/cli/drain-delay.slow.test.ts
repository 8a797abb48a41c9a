import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import WebSocket from 'ws'
import { openSession, slow } from '../support/http-session.js'
import { FIXTURE, launch } from '../support/process.js'
import { until } from '../support/wait.js'

const OPTIONS = ['--port', '0', '--ephemeral', '--log-level', 'silent', '--plugin', FIXTURE]

t.test('with a drainDelay, a process that is to end is not ready and serves everything on', async t => {
  const running = launch(t, OPTIONS, { env: { PATCHBAY_DRAIN_DELAY: '600000' } })
  const url = await running.url()
  const session = await openSession(url)
  const reply = await session.stream(slow(1, 20, 20))
  await reply.message()
  t.match(await get(`${url}/readyz`), { status: 200, body: 'ready' })

  running.kill('SIGTERM')
  const begun = performance.now()
  await until(async () => (await get(`${url}/readyz`)).status === 503, 'it is not ready')
  t.comment(`not ready ${Math.round(performance.now() - begun)} ms after SIGTERM`)
  t.match(await get(`${url}/livez`), { status: 200, body: 'live', connection: 'close' })
  t.match(await get(`${url}/health`), { status: 503, body: /"status":"draining","reason":"it is about to shut down"/ })

  for (let message = await reply.message(); message['id'] === undefined; message = await reply.message()) {
    t.match(message, { method: 'notifications/progress' })
  }
  t.match((await session.post({ id: 2, method: 'ping' })).status, 200, 'a session goes on')
  t.match((await openSession(url)).id, /./, 'a new one begins')
  const called = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}'
  })
  t.match(
    [called.status, called.headers.get('connection')],
    [200, 'close'],
    'a new call is answered on a connection that a proxy does not use again'
  )
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')

  running.kill('SIGTERM')
  t.match(await running.exit(), { code: 1 }, 'a second signal ends it at once')
})

t.test('after the drainDelay it drains: what is in flight is answered, and it exits with 0', async t => {
  const running = launch(t, OPTIONS, { env: { PATCHBAY_DRAIN_DELAY: '700' } })
  const url = await running.url()
  const session = await openSession(url)
  const reply = await session.stream(slow(1, 10, 150))
  await reply.message()
  const begun = performance.now()
  running.kill('SIGTERM')
  let last = await reply.message()
  while (last['id'] === undefined) last = await reply.message()
  t.match(last, { id: 1, result: { content: [{ text: '10 steps' }] } })
  t.match(await running.exit(), { code: 0, signal: null })
  t.ok(performance.now() - begun >= 700, 'not before the delay is over')
})

t.test('the delay is for HTTP: a gateway on stdio alone ends without it', async t => {
  const running = launch(t, ['--stdio', '--ephemeral'], { env: { PATCHBAY_DRAIN_DELAY: '600000' } })
  running.end()
  t.match(await running.exit(), { code: 0 })
})

/** A GET on a connection that would be kept. */
async function get (
  url: string
): Promise<{ status: number | undefined, body: string, connection: string | undefined }> {
  const agent = new http.Agent({ keepAlive: true })
  const [reply] = (await once(http.get(url, { agent }), 'response')) as [IncomingMessage]
  const body = await text(reply)
  agent.destroy()
  return { status: reply.statusCode, body, connection: reply.headers.connection }
}
