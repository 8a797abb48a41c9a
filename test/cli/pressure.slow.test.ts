import t from 'tap'
import WebSocket from 'ws'
import { once } from 'node:events'
import { modernMeta } from '../support/modern.js'
import { openSession, post, type Posted } from '../support/http-session.js'
import { folder, initialize, launch, type Json, type Launched } from '../support/process.js'
import { until } from '../support/wait.js'

/** Tools that hold memory until SIGCONT comes, and that block the loop. */
const BUSY = `
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { tool } from 'mcp-patchbay'
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
const kept = []
function block (ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}
export default async function busy (fastify) {
  const { mcp: { tools } } = fastify
  // The size of the heap counts for some seconds after a collection.
  const collecting = setInterval(collect, 1_000).unref()
  process.once('SIGCONT', () => { kept.length = 0; clearInterval(collecting) })
  tools.add(tool({ name: 'keep', description: 'd', run: () => { kept.push(new Array(1_000_000).fill(0.5)) } }))
  tools.add(tool({ name: 'block', description: 'd', run: () => block(1_500) }))
  tools.add(tool({ name: 'block_on', description: 'd', run: async () => {
    void (async () => {
      for (const until = performance.now() + 3_000; performance.now() < until; await new Promise(resolve => setImmediate(resolve))) block(400)
    })()
  } }))
  tools.add(tool({ name: 'quick', description: 'd', run: () => 'ok' }))
}`

const DEADLINE = 60_000

async function busy (
  t: Parameters<typeof launch>[0],
  env: Record<string, string>
): Promise<{ launched: Launched, url: string }> {
  const launched = launch(t, ['--stdio', '--port', '0', '--ephemeral', '--plugin', 'busy.mjs'], {
    cwd: await folder(t, { 'busy.mjs': BUSY }),
    env: { PATCHBAY_AUDIT: 'false', ...env }
  })
  const url = await launched.url()
  launched.send(initialize)
  await launched.next()
  return { launched, url }
}

const modern = async (url: string, name: string): Promise<Posted> =>
  await post(
    url,
    { id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: modernMeta() } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
  )

async function health (url: string): Promise<Json & { code: number }> {
  const response = await fetch(`${url}/health`)
  return { code: response.status, ...await response.json() as Json }
}

async function whenStatus (
  url: string,
  status: string,
  meanwhile: () => Promise<unknown> = async () => {}
): Promise<Json> {
  let current: Json = {}
  await until(
    async () => {
      current = await health(url)
      if (current['status'] === status) return true
      await meanwhile()
      return false
    },
    `status ${status}`,
    DEADLINE,
    20
  )
  return current
}

/** The status with which an upgrade is refused; 101 when it is not. */
async function upgrade (url: string): Promise<number | undefined> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  return await new Promise(resolve => {
    socket.on('error', () => {})
    socket.once('unexpected-response', (_request, { statusCode }) => { socket.terminate(); resolve(statusCode) })
    socket.once('open', () => { socket.terminate(); resolve(101) })
  })
}

t.test('a process short of heap refuses new work, serves its clients, and recovers', async t => {
  const { launched, url } = await busy(t, {
    NODE_OPTIONS: '--max-old-space-size=200',
    PATCHBAY_LIMITS: 'maxEventLoopDelay=30000'
  })
  const session = await openSession(url)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const asked: Json[] = []
  socket.on('message', (data: Buffer) => asked.push(JSON.parse(String(data)) as Json))
  const send = async (message: object): Promise<Json> => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    while (asked.length === 0) await once(socket, 'message')
    return asked.shift() as Json
  }
  await send(initialize)
  const refused = async <T>(ask: () => Promise<T>, isRefusal: (answer: T) => boolean): Promise<T> => {
    let answer = await ask()
    await until(async () => isRefusal(answer) || isRefusal(answer = await ask()), 'a refusal', DEADLINE, 20)
    return answer
  }
  t.match(await whenStatus(url, 'overloaded', async () => await modern(url, 'keep')), {
    code: 503,
    live: true,
    ready: false,
    parts: { pressure: /heap/ }
  })

  await t.test('new clients are refused', async t => {
    const initialized = await refused(
      async () => await post(url, { id: 1, method: 'initialize', params: {} }),
      ({ status }) => status === 503
    )
    // With still less memory, a request is refused before it is read.
    t.match(initialized.body, { error: { message: /overloaded/ } })
    t.ok([1, null].includes(initialized.body['id'] as number | null))
    t.equal(await refused(async () => await upgrade(url), status => status !== 101), 503)
  })
  await t.test('then every call is refused, on every transport', async t => {
    const call = { id: 2, method: 'tools/call', params: { name: 'quick' } }
    const { status, headers } = await refused(async () => await modern(url, 'quick'), ({ status }) => status === 503)
    t.match([status, headers.get('retry-after')], [503, '1'])
    const posted = await refused(async () => await session.post(call), ({ status }) => status === 503)
    t.match(posted.body, {
      id: 2,
      error: { code: -32603, message: /overloaded .*limit maxHeap/, data: { retryAfter: 1 } }
    })
    t.match(
      await refused(
        async () => await send(call),
        ({ error }) => error !== undefined
      ),
      { id: 2, error: { code: -32603, message: /overloaded/ } }
    )
    const overStdio = await refused(
      async () => {
        launched.send(call)
        return await launched.next()
      },
      ({ error }) => error !== undefined
    )
    t.match(overStdio, { id: 2, error: { code: -32603, message: /overloaded/ } })
  })
  await t.test('but its clients may ping, and leave', async t => {
    t.match(await session.post({ id: 3, method: 'ping' }), { status: 200, body: { id: 3, result: {} } })
    t.match(await send({ id: 3, method: 'ping' }), { id: 3, result: {} })
    t.equal(await session.end(), 200)
  })

  launched.kill('SIGCONT')
  await whenStatus(url, 'healthy')
  t.match((await modern(url, 'quick')).body, { result: { content: [{ text: 'ok' }] } })
  launched.end()
  t.match(await launched.exit(), { code: 0 })
})

t.test('a handler that blocks the loop fails no other call; repeated blocking delays new clients', async t => {
  const { url } = await busy(t, { PATCHBAY_LIMITS: 'maxEventLoopDelay=200' })
  const attempt = async (): Promise<boolean> => {
    await whenStatus(url, 'healthy')
    const calls = await Promise.all(['quick', 'block', 'quick', 'quick'].map(async name => await modern(url, name)))
    for (let times = 0; times < 10; times++) calls.push(await modern(url, 'quick'))
    return calls.every(({ status }) => status === 200) && (await health(url)).status === 'healthy'
  }
  // A busy machine delays the event loop, too.
  let attempts = 1
  while (!await attempt() && attempts < 10) attempts++
  t.ok(attempts < 10, `one block is no overload, at attempt ${attempts}`)
  await whenStatus(url, 'healthy')

  await modern(url, 'block_on')
  t.match(await whenStatus(url, 'overloaded'), {
    code: 503,
    live: true,
    ready: false,
    parts: { pressure: /event loop/ }
  })
  t.match(await post(url, { id: 1, method: 'initialize', params: {} }), { status: 503 })
  await whenStatus(url, 'healthy')
  t.equal((await modern(url, 'quick')).status, 200)
})
