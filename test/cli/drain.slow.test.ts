import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { inTime, until } from '../support/wait.js'
import type { ServerEvent } from '../support/event-reader.js'
import { CALLERS, started, waiting, type Served } from './drain-clients.js'
import { FIXTURE, launch, type Json } from '../support/process.js'

const CALLS = 1_000
const DEADLINE = 60_000
const OPTIONS = ['--port', '0', '--log-level', 'silent', '--plugin', 'wait.mjs']
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ=='
}

t.test('a draining process answers 1,000 calls in flight, refuses new ones, exits with 0', async t => {
  const launched = launch(t, ['--stdio', ...OPTIONS], { cwd: await waiting(t) })
  const url = await launched.url()
  const each = Math.ceil(CALLS / Object.keys(CALLERS).length)
  const clients = new Map<string, Promise<Served>>()
  for (const [transport, call] of Object.entries(CALLERS)) {
    clients.set(transport, (await call(url, each, launched)).done)
  }
  await underWay(url, each * clients.size)

  launched.kill('SIGTERM')
  await draining(url)
  const [message, upgrade] = [await ask(`${url}/message`), await ask(`${url}/mcp`, UPGRADE)]
  for (const { statusCode, headers } of [message, upgrade]) {
    t.match({ statusCode, headers }, { statusCode: 503, headers: { 'retry-after': '1', connection: 'close' } })
  }

  for (const [transport, done] of clients) {
    const { answers, farewell } = await inTime(done, `the end of ${transport}`, DEADLINE)
    t.strictSame(
      answers.map(({ id }) => id).sort(),
      expectedIds(transport, each),
      `${transport}: each call is answered once`
    )
    t.strictSame(
      answers.filter(({ id }) => id !== 0).filter(answer => !JSON.stringify(answer).includes('"done"')),
      [],
      `${transport}: with its result`
    )
    if (transport === 'websocket') t.equal(farewell, 1001)
    if (transport === 'legacy' || transport === 'sse') {
      t.match((farewell as ServerEvent[]).at(-1)?.retry, /^[1-4]\d{3}$/, `${transport}: is told when to come back`)
    }
  }
  t.match(await launched.exit(), { code: 0, signal: null })
})

t.test('a second signal ends the process at once, and not with 0', async t => {
  const launched = launch(t, ['--port', '0', '--ephemeral', '--log-level', 'silent', '--plugin', FIXTURE], {
    env: { PATCHBAY_GRACE: '120000' }
  })
  const url = await launched.url()
  const lost = t.rejects(
    fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1,"delay":600000}}}'
    })
  )
  await busy(url)
  launched.kill('SIGTERM')
  await draining(url)
  launched.kill('SIGTERM')
  t.match(await launched.exit(), { code: 1, signal: null })
  await lost
})

t.test('half a request does not delay the end of the process beyond the grace', async t => {
  const launched = launch(t, OPTIONS, { cwd: await waiting(t), env: { PATCHBAY_GRACE: '300' } })
  const socket = connect(Number(new URL(await launched.url()).port), '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  socket.write(
    'POST /message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{"json'
  )
  // The server is reading it.
  await once(socket, 'data')
  launched.kill('SIGTERM')
  t.match(await launched.exit(), { code: 0 })
})

const expectedIds = (transport: string, each: number): number[] =>
  [
    ...(['stdio', 'modern', 'websocket'].includes(transport) ? [0] : []),
    ...Array.from({ length: each }, (_, index) => index + 1)
  ].sort()

async function underWay (url: string, calls: number): Promise<void> {
  await until(async () => await started(url) >= calls, `the beginning of all ${calls} calls`, DEADLINE, 20)
}

/** Asks until another client is being served. */
async function busy (url: string): Promise<void> {
  await until(
    async () => Number((JSON.parse(await text(await ask(`${url}/health`))) as Json).peers) > 0,
    'another client',
    DEADLINE,
    5
  )
}

/**
 * Asks until the process has noticed that it is to stop. A connection that is new at that moment has no request yet,
 * and is closed.
 */
async function draining (url: string): Promise<void> {
  await until(async () => {
    const reply = await ask(`${url}/health`).catch(() => undefined)
    return reply !== undefined && (JSON.parse(await text(reply)) as Json).status === 'draining'
  }, 'the process drains')
}

/** A GET on a connection of its own. */
async function ask (url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const request = http.get(url, { agent: false, headers })
  const [reply] = await once(request, 'response') as [IncomingMessage]
  return reply
}

async function text (reply: IncomingMessage): Promise<string> {
  let all = ''
  for await (const chunk of reply) all += String(chunk)
  return all
}
