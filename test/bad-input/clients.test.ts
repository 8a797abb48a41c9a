import t from 'tap'
import { until } from '../support/wait.js'
import { performHandshake } from '../support/transports.js'
import { openSession, post } from '../support/http-requests.js'
import { call, callTool, modernMeta, NEWEST } from '../support/messages.js'
import { startServer, type Server } from '../support/server.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from '../support/connections.js'

const MEGA = 1024 * 1024
const hello = (clientInfo: object, capabilities = {}): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: NEWEST, capabilities, clientInfo }
  })
const talkative = hello({
  name: 'n'.repeat(MEGA),
  version: '1',
  title: 'T',
  description: 'd'.repeat(MEGA),
  icons: [{ src: `data:image/png;base64,${'A'.repeat(MEGA)}` }]
})

const CONNECTIONS: Array<[name: string, open: (server: Server) => Promise<Connection>]> = [
  ['sse', sseConnection],
  ['websocket', socketConnection],
  ['stdio', stdioConnection]
]

t.test('of a client the gateway keeps only the name, version and title, cut to a length', async t => {
  const server = await startServer(t)
  const clients = () => [...server.app.mcp.dispatcher.lifecycle.peers].map(({ client }) => client)
  const kept = { name: 'n'.repeat(256), version: '1', title: 'T' }

  for (const [name, open] of CONNECTIONS) {
    await t.test(name, async t => {
      const connection = await open(server)
      await connection.write(talkative)
      await connection.inbox.next()
      t.strictSame(clients(), [kept])
      await connection.close()
      await until(() => server.app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the client')
    })
  }

  await t.test('a session', async t => {
    const id = await openSession(server.port, talkative)
    t.strictSame(server.app.mcp.sessions.find(id, undefined)?.peer.client, kept)
  })
})

t.test('capabilities with too many values are refused like those of too many characters', async t => {
  const { port } = await startServer(t)
  const status = async (capabilities: object) => (await post(port, '/mcp', hello({}, capabilities))).body.slice(0, 200)
  t.match(await status({ experimental: { x: new Array(2_000).fill({}) } }), /-32602.*1024 values/)
  t.match(await status({ experimental: { x: 'x'.repeat(66_000) } }), /-32602.*65536 characters/)
  t.match(
    await status({
      roots: { listChanged: true },
      sampling: {},
      elicitation: {},
      experimental: { x: new Array(500).fill({}) }
    }),
    /"result"/
  )
})

t.test('no error repeats more of a message than helps to understand it', async t => {
  const server = await startServer(t, { tools: true })
  const long = 'x'.repeat(MEGA)
  const requests: Record<string, (era: 'legacy' | 'modern') => string> = {
    'an unknown method': call(long),
    'an unknown tool': callTool(long),
    'an argument that is none': callTool('echo', { text: 'x', [long]: 1 }),
    'an argument of the wrong type, deep inside': callTool('slow', { steps: long }),
    'an unknown resource': call('resources/read', { uri: `test://${long}` }),
    'a subscription to an unknown resource': call('resources/subscribe', { uri: `test://${long}` }),
    'an unknown prompt': call('prompts/get', { name: long }),
    'a prompt without its argument': call('prompts/get', { name: 'introduce', arguments: { [long]: 'x' } }),
    'an unknown argument of a completion': call('completion/complete', {
      ref: { type: 'ref/prompt', name: 'introduce' },
      argument: { name: long, value: '' }
    }),
    'a completion of something unknown': call('completion/complete', {
      ref: { type: 'ref/resource', uri: long },
      argument: { name: 'a', value: '' }
    }),
    'a cursor': call('tools/list', { cursor: long }),
    'a log level': call('logging/setLevel', { level: long }),
    'a time zone': callTool('get_current_time', { timeZone: long }),
    'a note': callTool('delete_note', { id: long, confirm: true }),
    'a version': call('tools/list', { _meta: modernMeta(long) }),
    'a progress token': call('tools/list', { _meta: { progressToken: long } }),
    'a log level in _meta': call('tools/list', { _meta: { 'io.modelcontextprotocol/logLevel': long } })
  }
  for (const [what, message] of Object.entries(requests)) {
    const { body } = await post(server.port, '/message', message('legacy'))
    t.match(body, /"error"|"isError":true/, what)
    t.ok(body.length < 5_000, `${what}: ${body.length} characters`)
  }
  const connection = await performHandshake(await socketConnection(server))
  await connection.write(call('resources/read', { uri: `test://item/${'x'.repeat(2_000)}/y` })('legacy'))
  t.match(JSON.stringify(await connection.inbox.next()), 'x'.repeat(2_000), 'a URI that could be one is repeated whole')
  await connection.close()
})
