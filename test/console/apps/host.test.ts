import t, { type Test } from 'tap'
import { AppHost, Refused, type HostPorts } from '../../../console/apps/host.js'
import { RpcError, type JsonObject } from '../../../console/client/contract.js'
import { until } from '../../support/wait.js'

const START = {
  html: '<p>page</p>',
  arguments: { count: 2 },
  result: { content: [], structuredContent: { dice: [1, 2] } },
  capabilities: { serverTools: {} },
  context: { theme: 'dark' }
}

interface Hosted {
  app: AppHost
  sent: JsonObject[]
  did: unknown[]
  tell: (method: string, params?: object, id?: unknown) => void
}

/** A host whose sandbox is the test. */
function hosted (t: Test, ports: Partial<HostPorts> = {}): Hosted {
  const sent: JsonObject[] = []
  const did: unknown[] = []
  const app = new AppHost(START, {
    send: message => { sent.push(message) },
    callTool: async (name, args) => { did.push(['call', name, args]); return { content: [] } },
    readResource: async uri => { did.push(['read', uri]); return { contents: [] } },
    openLink: async url => { did.push(['open', url]) },
    resize: height => { did.push(['resize', height]) },
    log: line => { did.push(['log', line]) },
    ready: () => { did.push('ready') },
    ...ports
  })
  t.teardown(async () => await app.tearDown('end'))
  return {
    app,
    sent,
    did,
    tell: (method, params = {}, id) => app.receive({ jsonrpc: '2.0', method, params, ...(id === undefined ? {} : { id }) })
  }
}

/** The page has started, and what was sent until then is forgotten. */
async function running (t: Test, ports: Partial<HostPorts> = {}): Promise<Hosted> {
  const one = hosted(t, ports)
  one.tell('ui/notifications/sandbox-proxy-ready')
  one.tell('ui/initialize', {}, 0)
  await until(() => one.sent.length === 2)
  one.tell('ui/notifications/initialized')
  one.sent.length = 0
  one.did.length = 0
  return one
}

t.test('a page gets the arguments and the result when it has said that it is ready, and not before', async t => {
  const { sent, did, tell } = hosted(t)
  tell('ui/notifications/initialized')
  tell('ui/initialize', {}, 1)
  t.strictSame(sent, [], 'nothing before the sandbox is there')
  tell('ui/notifications/sandbox-proxy-ready')
  tell('ui/notifications/sandbox-proxy-ready')
  t.strictSame(did, ['ready'])
  t.strictSame(sent.splice(0), [
    { jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html: '<p>page</p>' } }
  ])
  tell('ui/notifications/initialized')
  tell('tools/call', { name: 'a' }, 1)
  await until(() => sent.length === 1)
  t.match(sent.splice(0), [{ id: 1, error: { code: -32000, message: /has not sent ui\/notifications\/initialized/ } }])
  tell('ui/initialize', { protocolVersion: '2026-01-26' }, 2)
  await until(() => sent.length === 1)
  t.strictSame(sent.splice(0), [{
    jsonrpc: '2.0',
    id: 2,
    result: {
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'patchbay-console', title: 'Patchbay console', version: '1' },
      hostCapabilities: { serverTools: {} },
      hostContext: { theme: 'dark' }
    }
  }])
  tell('ui/notifications/initialized')
  tell('ui/notifications/initialized')
  t.strictSame(sent, [
    { jsonrpc: '2.0', method: 'ui/notifications/tool-input', params: { arguments: { count: 2 } } },
    { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: START.result }
  ], 'once')
})

t.test('each request is answered, and refused in words where the console does not do it', async t => {
  const rows: Array<[method: string, params: object, answer: object]> = [
    ['ping', {}, { result: {} }],
    ['tools/call', { name: 'roll', arguments: { count: 1 } }, { result: { content: [] } }],
    ['resources/read', { uri: 'ui://a' }, { result: { contents: [] } }],
    ['ui/open-link', { url: 'https://a.example' }, { result: {} }],
    ['ui/open-link', {}, { error: { code: -32602, message: /"url"/ } }],
    ['ui/request-display-mode', { mode: 'fullscreen' }, { result: { mode: 'inline' } }],
    ['ui/message', { role: 'user' }, { error: { code: -32000, message: /no model/ } }],
    ['ui/update-model-context', {}, { error: { code: -32000, message: /no model/ } }],
    ['sampling/createMessage', {}, { error: { code: -32601, message: /does not answer sampling/ } }]
  ]
  const { sent, did, tell } = await running(t)
  for (const [method, params, answer] of rows) {
    tell(method, params, method)
    await until(() => sent.length === 1)
    t.match(sent.pop(), { jsonrpc: '2.0', id: method, ...answer }, method)
  }
  t.strictSame(did, [['call', 'roll', { count: 1 }], ['read', 'ui://a'], ['open', 'https://a.example']])
})

t.test('errors of the server arrive as they are, and refusals with their reason', async t => {
  const errors = [new RpcError(-32602, 'no such', { a: 1 }), new Refused('not yours'), new Error('lost')]
  const { sent, tell } = await running(t, { callTool: async () => { throw errors.shift() ?? new Error('none left') } })
  for (const error of [
    { code: -32602, message: 'no such', data: { a: 1 } },
    { code: -32000, message: 'not yours' },
    { code: -32000, message: 'lost' }
  ]) {
    tell('tools/call', { name: 'x' }, 5)
    await until(() => sent.length === 1)
    t.strictSame(sent.pop(), { jsonrpc: '2.0', id: 5, error })
  }
})

t.test('its size and its log are heard, and what is no message is not', async t => {
  const { app, sent, did, tell } = await running(t)
  for (const height of [300, Infinity, '20', undefined]) tell('ui/notifications/size-changed', { height })
  tell('notifications/message', { level: 'info', data: 'seen' })
  tell('notifications/message', { level: 'info', data: { a: 1 } })
  for (const data of [null, 'text', [], { jsonrpc: '1.0', method: 'ping', id: 1 }, { jsonrpc: '2.0', method: 'ping', id: {} }]) {
    app.receive(data)
  }
  t.strictSame(did, [['resize', 300], ['log', 'info: seen'], ['log', 'info: {"a":1}']])
  t.strictSame(sent, [])
})

t.test('a page has 32 requests open at most, and a removed one gets no answer', async t => {
  const release: Array<() => void> = []
  const { app, sent, tell } = await running(t, {
    callTool: async () => await new Promise(resolve => release.push(() => resolve({})))
  })
  for (let id = 0; id < 33; id++) tell('tools/call', { name: 'slow' }, id)
  t.match(sent.splice(0), [{ id: 32, error: { code: -32000, message: /At most 32/ } }])
  const gone = app.tearDown('closed')
  t.match(sent.splice(0), [{ id: 'teardown', method: 'ui/resource-teardown', params: { reason: 'closed' } }])
  app.receive({ jsonrpc: '2.0', id: 'teardown', result: {} })
  await gone
  for (const each of release) each()
  tell('ping', {}, 99)
  await new Promise(resolve => { setImmediate(resolve) })
  t.strictSame(sent, [])
})
