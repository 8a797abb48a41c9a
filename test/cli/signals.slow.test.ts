import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { until } from '../support/wait.js'
import { FIXTURE, folder, initialize, launch, PROCESSES, toolCall } from '../support/process.js'

const SLOW_END = `
export default async function (fastify) {
  fastify.addHook('onClose', async () => { console.log('closing'); await new Promise(resolve => setTimeout(resolve, 60_000)) })
}`

/** A signal comes before anything is served. */
const SLOW_START =
  "export default async function () { console.log('starting'); await new Promise(resolve => setTimeout(resolve, 60_000)) }"

t.test('signals', { skip: process.platform === 'win32' && 'Windows has no signals' }, async t => {
  t.jobs = PROCESSES

  for (const [first, second] of [['SIGTERM', 'SIGINT'], ['SIGINT', 'SIGTERM']] as const) {
    t.test(`${second} right after ${first} ends the process at once, with 1`, { buffered: true }, async t => {
      const launched = await launch(t, ['--port', '0', '--ephemeral', '--plugin', 'slow-end.mjs'], {
        cwd: await folder(t, { 'slow-end.mjs': SLOW_END })
      }).up()
      launched.kill(first)
      launched.kill(second)
      const { code, stderr } = await launched.exit()
      t.equal(code, 1)
      t.match(stderr, /patchbay: second (SIGTERM|SIGINT), ending at once\n/)
    })
  }

  t.test(
    'the same signal again, while the end is under way, ends the process at once, with 1',
    { buffered: true },
    async t => {
      const launched = await launch(t, ['--port', '0', '--ephemeral', '--plugin', 'slow-end.mjs'], {
        cwd: await folder(t, { 'slow-end.mjs': SLOW_END })
      }).up()
      launched.kill('SIGTERM')
      await until(() => launched.stderr.includes('closing'), 'the log line', 60_000)
      launched.kill('SIGTERM')
      t.equal((await launched.exit()).code, 1)
    }
  )

  for (const [signal, code] of [['SIGTERM', 143], ['SIGINT', 130]] as const) {
    t.test(`${signal} before the gateway is up ends the process at once, with ${code}`, { buffered: true }, async t => {
      const launched = launch(t, ['--port', '0', '--ephemeral', '--plugin', 'slow-start.mjs'], {
        cwd: await folder(t, { 'slow-start.mjs': SLOW_START })
      })
      await until(() => launched.stderr.includes('starting'), 'the log line', 60_000)
      launched.kill(signal)
      t.match(await launched.exit(), { code, signal: null })
    })
  }

  t.test('keepServing: HTTP is served after standard input ends, until a signal', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--port', '0', '--keep-serving', '--plugin', FIXTURE])
    const url = await launched.url()
    launched.send(initialize, toolCall(1, 'echo', { text: 'x' }))
    await launched.next()
    await launched.next()
    launched.end()
    await until(
      () => launched.stderr.includes('stdio client disconnected; HTTP is still served (option keepServing)'),
      'the log line',
      60_000
    )
    t.equal((await fetch(`${url}/health`)).status, 200)
    launched.kill('SIGTERM')
    t.match(await launched.exit(), { code: 0, signal: null })
  })

  t.test(
    'a shutdown after the end of standard input that does not end is given up once, with 1',
    { buffered: true },
    async t => {
      const cwd = await folder(t, {
        'stuck.mjs': 'export default async app => { app.addHook("onClose", async () => await new Promise(() => {})) }'
      })
      const launched = await launch(t, ['--stdio', '--ephemeral', '--plugin', 'stuck.mjs'], {
        cwd,
        env: { PATCHBAY_GRACE: '1' }
      }).up()
      launched.end()
      const { code, stderr } = await launched.exit()
      t.equal(code, 1)
      t.match(stderr, /shutdown failed: it did not end within 5003 ms/)
      t.notMatch(stderr, /killed by timeout/i, 'it was not waited for twice')
    }
  )

  t.test('localhost: connections of IPv4 and IPv6 count together', { buffered: true }, async t => {
    const launched = launch(t, ['--host', 'localhost', '--port', '0', '--ephemeral'], {
      env: { PATCHBAY_LIMITS: 'maxConnections=2' }
    })
    const port = Number(new URL(await launched.url()).port)
    const addresses: string[] = []
    for (const host of ['127.0.0.1', '::1']) {
      const socket = connect({ port, host })
      t.teardown(() => socket.destroy())
      if (await once(socket, 'connect').then(() => true, () => false)) addresses.push(host)
      else continue
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
      t.match(String((await once(socket, 'data') as [Buffer])[0]), /^HTTP\/1.1 200 OK/, host)
    }
    // A machine without IPv6 has one address only.
    const last = addresses.at(-1) as string
    const others = Array.from({ length: 3 - addresses.length }, () =>
      connect({ port, host: last })
        .on('error', () => {})
        .resume()
    )
    t.teardown(() => { for (const socket of others) socket.destroy() })
    await until(
      () =>
        others.some(({ destroyed, readyState }) => destroyed || readyState === 'closed' || readyState === 'writeOnly'),
      'the one too many is closed',
      60_000
    )
    t.ok(addresses.length > 0)
    launched.kill('SIGTERM')
    t.match(await launched.exit(), { code: 0 })
  })
})
