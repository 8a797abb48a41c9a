import t from 'tap'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { FakeCall, FakeUpstream, createEntry, type FakeLink } from '../../support/fake-upstream.js'
import { modern } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import { connectTo } from './connecting.js'

const SELF = 'io.modelcontextprotocol/'
const discovered = { result: { supportedVersions: [modern.version], capabilities: { tools: {} } } }
const OK = { result: { content: [] } }
const isModern = { 'server/discover': () => discovered }
const isSent =
  (link: FakeLink, method = 'tools/call', count = 1) =>
    async () =>
      link.received.filter(message => message.method === method).length >= count

t.test(
  'a modern upstream hears of us, of the capabilities of this request, and of what the client added to _meta',
  async t => {
    const upstream = new FakeUpstream({ ...isModern, 'tools/call': () => OK })
    const connection = await connectTo(t, upstream)
    const params = { name: 'a', _meta: { traceparent: '00-1', 'acme.example/key': { a: 1 } } }
    const capabilities = { elicitation: { form: {} } }
    await connection.request({
      method: 'tools/call',
      params,
      capabilities,
      logLevel: 'info',
      call: new FakeCall(),
      wantsProgress: true
    })
    t.strictSame(upstream.link.last('tools/call').params, {
      name: 'a',
      _meta: {
        traceparent: '00-1',
        'acme.example/key': { a: 1 },
        [`${SELF}protocolVersion`]: modern.version,
        [`${SELF}clientInfo`]: { name: 'gateway', version: '9' },
        [`${SELF}clientCapabilities`]: capabilities,
        progressToken: upstream.link.last('tools/call').id,
        [`${SELF}logLevel`]: 'info'
      }
    })
    await connection.request({ method: 'tools/call', params: { name: 'a' } })
    t.strictSame(
      Object.keys(upstream.link.last('tools/call').params['_meta'] as object),
      ['protocolVersion', 'clientInfo', 'clientCapabilities'].map(key => SELF + key)
    )
    for (const bare of [{}, { _meta: {} }]) {
      await connection.request({ method: 'tools/call', params: bare })
      t.match(upstream.link.last('tools/call').params, {
        _meta: { [`${SELF}clientInfo`]: { name: 'gateway' }, [`${SELF}clientCapabilities`]: {} }
      })
    }
  }
)

t.test(
  'a legacy upstream gets the params as they are, with a progress token of ours where progress is wanted',
  async t => {
    const upstream = new FakeUpstream({ 'tools/call': () => OK })
    const connection = await connectTo(t, upstream)
    await connection.request({ method: 'tools/call', params: { name: 'a' }, capabilities: { sampling: {} } })
    t.strictSame(upstream.link.last('tools/call').params, { name: 'a' })
    await connection.request({
      method: 'tools/call',
      params: { name: 'a', _meta: { 'acme.example/key': 1 } },
      call: new FakeCall(),
      wantsProgress: true
    })
    t.strictSame(upstream.link.last('tools/call').params, {
      name: 'a',
      _meta: { 'acme.example/key': 1, progressToken: upstream.link.last('tools/call').id }
    })
  }
)

t.test(
  'a legacy upstream is told that apps are shown and that it may ask for input, for models by option, for roots where some are configured',
  async t => {
    const told = async (given: object): Promise<unknown> => {
      const upstream = new FakeUpstream({})
      await connectTo(t, upstream, { entry: createEntry(given) })
      return upstream.link.last('initialize').params['capabilities']
    }
    const apps = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
    t.strictSame(await told({}), { elicitation: { form: {}, url: {} }, extensions: apps })
    t.strictSame(
      await told({ elicitation: false, sampling: true, roots: ['file:///a'] }),
      { sampling: {}, roots: {}, extensions: apps }
    )
  }
)

t.test('progress reaches the call of its token, and none after the answer', async t => {
  const upstream = new FakeUpstream({ 'tools/call': () => {} })
  const warnings: string[] = []
  const connection = await connectTo(t, upstream, {
    log: { debug: () => {}, warn: (_data, text) => warnings.push(text) }
  })
  const calls = [new FakeCall(), new FakeCall()]
  const answers = calls.map(
    async call => await connection.request({ method: 'tools/call', params: {}, call, wantsProgress: true })
  )
  await until(isSent(upstream.link, 'tools/call', 2))
  const [first, second] = upstream.link.received
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => (params['_meta'] as Params)['progressToken'])
  const progress = (progressToken: unknown, value: number): boolean =>
    upstream.link.send({ method: 'notifications/progress', params: { progressToken, progress: value } })
  progress(second, 1)
  progress(first, 5)
  progress(second, 3)
  progress(String(second), 4)
  progress(undefined, 4)
  for (const id of upstream.link.received.filter(({ method }) => method === 'tools/call').map(message => message.id)) {
    upstream.link.send({ id, ...OK })
  }
  await Promise.all(answers)
  progress(first, 6)
  t.strictSame(calls.map(call => call.progressed.map(({ progress: value }) => value)), [[5], [1, 3]])
  t.equal(warnings.length, 1, 'one line for all of them')
})

t.test('errors of the upstream stay as they are', async t => {
  const upstream = new FakeUpstream({
    'tools/call': () => ({ error: { code: -32042, message: 'Open this', data: { elicitations: [] } } })
  })
  const connection = await connectTo(t, upstream)
  await t.rejects(connection.request({ method: 'tools/call', params: {} }), {
    name: 'McpError',
    code: -32042,
    message: 'Open this',
    data: { elicitations: [] }
  })
})

t.test('answers that are none fail their call, with the name of the upstream', async t => {
  for (const result of ['text', [1], null, 7]) {
    const connection = await connectTo(t, new FakeUpstream({ 'tools/call': () => ({ result }) }))
    await t.rejects(connection.request({ method: 'tools/call', params: {} }), {
      name: 'McpError',
      message: /server fake failed: it answered tools\/call with a result that is not an object/
    })
  }
  const odd = await connectTo(
    t,
    new FakeUpstream({ ...isModern, 'tools/call': () => ({ result: { resultType: 'task' } }) })
  )
  await t.rejects(
    odd.request({ method: 'tools/call', params: {} }),
    /server fake failed: it answered tools\/call with an unknown resultType/
  )
  const asking = {
    result: { resultType: 'input_required', inputRequests: { who: { method: 'roots/list', params: {} } } }
  }
  const early = await connectTo(
    t,
    new FakeUpstream({
      ...isModern,
      'tools/list': () => asking,
      'completion/complete': () => asking,
      'tools/call': () => asking
    })
  )
  for (const method of ['tools/list', 'completion/complete']) {
    await t.rejects(early.request({ method, params: {} }), {
      message: `The upstream server fake failed: it answered ${method} with input_required, which that method does not allow`
    })
  }
  t.strictSame(await early.request({ method: 'tools/call', params: {} }), asking.result, 'a call may ask')
  const legacy = await connectTo(t, new FakeUpstream({ 'tools/call': () => ({ result: { resultType: 'task' } }) }))
  t.strictSame(
    await legacy.request({ method: 'tools/call', params: {} }),
    { resultType: 'task' },
    'means nothing in a revision without it'
  )
})

t.test(
  'answers to ids never asked, second answers and messages that cannot be read are ignored, with one line in a minute',
  async t => {
    const lines: object[] = []
    const upstream = new FakeUpstream({ 'tools/call': () => OK })
    const connection = await connectTo(t, upstream, { log: { debug: () => {}, warn: data => lines.push(data) } })
    await connection.request({ method: 'tools/call', params: {} })
    const { link } = upstream
    for (let i = 0; i < 1_000; i++) link.send({ id: 99, ...OK })
    link.send({ id: link.last('tools/call').id, ...OK })
    link.send({ id: 'x', error: { code: 'no' } })
    link.send({ id: {}, method: 'ping' })
    link.send({ error: { code: 1, message: 'about nothing' } })
    t.equal(lines.length, 1)
    t.strictSame(await connection.request({ method: 'tools/call', params: {} }), OK.result)
  }
)

t.test('the signal cancels the request at the upstream, under the id it has there', async t => {
  const upstream = new FakeUpstream({ 'tools/call': () => {} })
  const connection = await connectTo(t, upstream)
  const controller = new AbortController()
  const answer = connection.request({ method: 'tools/call', params: {}, signal: controller.signal })
  await until(isSent(upstream.link))
  controller.abort()
  await t.rejects(answer)
  t.strictSame(upstream.link.last('notifications/cancelled').params, { requestId: upstream.link.last('tools/call').id })
  t.equal(connection.callsInFlight, 0)
})

t.test(
  'requests in flight fail at once when the upstream ends, with its name; listeners hear the reason once',
  async t => {
    const upstream = new FakeUpstream({ 'tools/call': () => {} })
    const connection = await connectTo(t, upstream)
    const reasons: string[] = []
    connection.onClose(why => reasons.push(why.message))
    const answer = connection.request({ method: 'tools/call', params: {} })
    await until(isSent(upstream.link))
    upstream.link.end('it was ended by SIGKILL')
    await t.rejects(answer, {
      name: 'McpError',
      message:
        'The upstream server fake was lost before it answered (it was ended by SIGKILL); whether the call took effect is not known'
    })
    t.strictSame(reasons, ['it was ended by SIGKILL'])
    t.equal(connection.closed, true)
    await t.rejects(connection.request({ method: 'tools/call', params: {} }), /fake/)
    await connection.close()
    t.equal(reasons.length, 1)
  }
)

t.test('one failed request fails alone; one whose id cannot be read fails all that are pending', async t => {
  const upstream = new FakeUpstream({ 'tools/call': () => {}, 'tools/list': () => {} })
  const connection = await connectTo(t, upstream)
  const call = connection.request({ method: 'tools/call', params: {} })
  const list = connection.request({ method: 'tools/list', params: {} })
  await until(isSent(upstream.link, 'tools/list'))
  upstream.link.events.failed(upstream.link.last('tools/list').id ?? '', new Error('too long'))
  await t.rejects(list, /server fake failed: too long/)
  upstream.link.events.failed(undefined, new Error('a line that is too long'))
  await t.rejects(call, /server fake failed: a line that is too long/)
  t.equal(connection.closed, false)
})

t.test(
  'headers that a modern upstream refuses are made anew, once, and the refusal never reaches the client',
  async t => {
    let accepted = 'new'
    const upstream: FakeUpstream = new FakeUpstream({
      ...isModern,
      'tools/call': ({ id }, link) =>
        link.headers.get(id)?.['Mcp-Param-A'] === accepted ? OK : { error: { code: -32020, message: 'mismatch' } }
    })
    const connection = await connectTo(t, upstream)
    let renewed = 0
    const request = {
      method: 'tools/call',
      params: {},
      headers: { 'Mcp-Param-A': 'old' },
      renewHeaders: async () => {
        renewed++
        return { 'Mcp-Param-A': 'new' }
      }
    }
    t.strictSame(await connection.request(request), OK.result)
    t.equal(renewed, 1)
    accepted = 'other'
    await t.rejects(connection.request(request), {
      code: -32603,
      message: /server fake failed: it refused the headers/
    })
    t.equal(renewed, 2)
  }
)

t.test('a modern upstream that does not know its version any more is agreed with anew, once', async t => {
  let isOld = false
  const upstream = new FakeUpstream({
    'server/discover': () => (isOld ? { error: { code: -32601, message: 'no' } } : discovered),
    'tools/call': ({ params }) =>
      isOld && params['_meta'] !== undefined ? { error: { code: -32022, message: 'no', data: { supported: [] } } } : OK
  })
  const connection = await connectTo(t, upstream)
  await connection.request({ method: 'tools/call', params: {} })
  isOld = true
  t.strictSame(await connection.request({ method: 'tools/call', params: {} }), OK.result)
  t.equal(connection.revision.stateless, false)
  t.equal(upstream.links.length, 2)
  await until(() => upstream.links[0]?.isClosed === true)
})

t.test('a legacy upstream is asked for log messages once, at the most verbose level that any call wants', async t => {
  const upstream = new FakeUpstream({ 'tools/call': () => OK, 'logging/setLevel': () => ({ result: {} }) })
  const connection = await connectTo(t, upstream)
  const call = async (logLevel: 'info' | 'error' | 'debug' | undefined): Promise<Params> =>
    await connection.request({ method: 'tools/call', params: {}, logLevel })
  for (const level of [undefined, 'error', 'info', 'error', 'info', 'debug', 'info'] as const) await call(level)
  t.strictSame(
    upstream.link.received.filter(({ method }) => method === 'logging/setLevel').map(({ params }) => params['level']),
    ['error', 'info', 'debug']
  )
})

t.test('a legacy upstream without logging, or one that refuses it, is called all the same', async t => {
  const without = new FakeUpstream({
    initialize: () => ({ result: { protocolVersion: '2025-06-18', capabilities: {} } }),
    'tools/call': () => OK
  })
  await (await connectTo(t, without)).request({ method: 'tools/call', params: {}, logLevel: 'info' })
  t.notOk(without.methods[0]?.includes('logging/setLevel'))
  const refusing = new FakeUpstream({
    'tools/call': () => OK,
    'logging/setLevel': () => ({ error: { code: -32601, message: 'no' } })
  })
  t.strictSame(
    await (await connectTo(t, refusing)).request({ method: 'tools/call', params: {}, logLevel: 'info' }),
    OK.result
  )
})

t.test('a response counts as asked for once, also when its request was cancelled a moment ago', async t => {
  const upstream = new FakeUpstream({ 'tools/call': () => {} })
  const connection = await connectTo(t, upstream)
  const end = new AbortController()
  const requests = [
    connection.request({ method: 'tools/call', params: {}, call: new FakeCall('ada') }),
    connection.request({ method: 'tools/call', params: {}, call: new FakeCall('ada'), signal: end.signal })
  ]
  const sent = () => upstream.link.received.filter(({ method }) => method === 'tools/call')
  await until(() => sent().length === 2)
  end.abort()
  await t.rejects(requests[1] as Promise<unknown>)
  const [answered, cancelled] = sent().map(({ id }) => id)
  const wasAsked = (id: unknown): boolean => upstream.link.send({ id, result: {} })
  t.equal(wasAsked(answered), true)
  await requests[0]
  t.equal(wasAsked(answered), false)
  t.equal(wasAsked(cancelled), true, 'a late response was asked for')
  t.equal(wasAsked(cancelled), false, 'but only one')
  t.equal(wasAsked('another'), false)
})
