import t from 'tap'
import { startServer } from '../support/server.js'
import { isProxied } from '../../protocol/http/proxied.js'
import { openSession, post } from '../support/http-requests.js'
import { call, initialize, NEWEST } from '../support/messages.js'
import type { Head } from '../support/http-client.js'
import { environment } from '../support/environment/display.js'
import { openStream } from '../support/event-reader.js'
import { ADA, headOf, listed } from '../support/keys.js'
import { speakers, type Answer } from './speakers.js'

const PROXIED: Head = [['X-Forwarded-For', '192.0.2.1']]
const RUN = { name: 'execute_command', arguments: { command: 'echo' } }
const OPTIONS = { apiKeys: [listed('ada', ADA, ['admin'])], commands: { echo: { program: '/bin/echo' } } }
const NO_COMMAND = /execute_command is not served to requests that came through a proxy.*allowForwarded/
const NO_CLIPBOARD = /clipboard is not served to requests that came through a proxy.*allowForwarded/

const words = (answer: Answer): string => JSON.stringify(answer.error ?? answer.result)

t.test('a proxy is known by the headers that it adds', async t => {
  for (const name of [
    'forwarded',
    'via',
    'x-real-ip',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-anything',
    'x-forwarded',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-original-forwarded-for',
    'x-proxyuser-ip',
    'cf-connecting-ip',
    'fastly-client-ip',
    'true-client-ip'
  ]) {
    t.ok(isProxied({ host: 'localhost', [name]: '' }), name)
  }
  for (const name of ['host', 'origin', 'x-forward', 'forwarded-by', 'viable']) {
    t.notOk(isProxied({ [name]: 'x' }), name)
  }
})

t.test('what touches the machine is not served through a proxy, on any transport', async t => {
  // Without a display the clipboard has another reason not to work, for those who are let through.
  t.teardown(environment({}))
  const server = await startServer(t, OPTIONS)
  for (const [name, connect] of Object.entries(speakers)) {
    if (name.startsWith('stdio')) continue
    await t.test(name, async t => {
      const direct = await connect({ ...server, head: headOf(ADA) })
      t.match(await direct.ask('tools/call', RUN), { result: { content: [{ text: '\n' }] } })
      t.notMatch(words(await direct.ask('tools/call', { name: 'get_clipboard', arguments: {} })), /proxy/)
      await direct.close()
      const forwarded = await connect({ ...server, head: [...headOf(ADA), ...PROXIED] })
      t.match(await forwarded.ask('tools/call', RUN), { result: { isError: true, content: [{ text: NO_COMMAND }] } })
      for (const params of [
        { name: 'get_clipboard', arguments: {} },
        { name: 'set_clipboard', arguments: { text: 'x' } }
      ]) {
        t.match(words(await forwarded.ask('tools/call', params)), NO_CLIPBOARD)
      }
      t.match(
        await forwarded.ask('tools/call', { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } }),
        { result: { content: [{ text: '1 + 2 = 3' }] } },
        'the rest is'
      )
      await forwarded.close()
    })
  }
})

t.test('with the option, they are served through proxies, too', async t => {
  const server = await startServer(t, { ...OPTIONS, allowForwarded: true })
  for (const name of ['message', 'websocket']) {
    const speaker = await speakers[name]?.({ ...server, head: [...headOf(ADA), ...PROXIED] })
    t.match(await speaker?.ask('tools/call', RUN), { result: { content: [{ text: '\n' }] } })
    await speaker?.close()
  }
})

t.test('in a session each HTTP request is checked for the headers of a proxy', async t => {
  const { port } = await startServer(t, OPTIONS)
  const ask = async (head: Head): Promise<string> =>
    (
      await post(port, '/mcp', call('tools/call', RUN)('legacy'), [
        ['Mcp-Session-Id', session],
        ...headOf(ADA),
        ...head
      ])
    ).body
  const session = await openSession(port, initialize(NEWEST), headOf(ADA))
  t.notMatch(await ask([]), /proxy/)
  t.match(await ask(PROXIED), NO_COMMAND)
  t.match(await ask([['Via', '1.1 proxy']]), NO_COMMAND)
  t.notMatch(await ask([]), /proxy/)
})

t.test('so does each message of a batch, and the stream of HTTP+SSE for all that is posted to it', async t => {
  const { port } = await startServer(t, OPTIONS)
  const batch = (head: Head) =>
    post(
      port,
      '/message',
      JSON.stringify([1, 2].map(id => ({ jsonrpc: '2.0', id, method: 'tools/call', params: RUN }))),
      [...headOf(ADA), ...head]
    )
  t.match(JSON.parse((await batch(PROXIED)).body), [
    { result: { isError: true, content: [{ text: NO_COMMAND }] } },
    { result: { isError: true } }
  ])
  t.notMatch((await batch([])).body, /proxy/)

  const stream = await openStream(`http://127.0.0.1:${port}/sse`, {
    headers: [...headOf(ADA), ...PROXIED].reduce((all, [name, value]) => ({ ...all, [name]: value }), {})
  })
  t.teardown(() => stream.drop())
  const { data = '' } = await stream.event() ?? {}
  for (const [id, method, params] of [
    [1, 'initialize', {}],
    [2, 'tools/call', RUN]
  ] as const) { await post(port, data, JSON.stringify({ jsonrpc: '2.0', id, method, params }), headOf(ADA)) }
  t.match(await stream.message(), { id: 1 })
  t.match(await stream.message(), { id: 2, result: { isError: true, content: [{ text: NO_COMMAND }] } })
})
