import t from 'tap'
import { memoryStore } from '../../../stores/memory/store.js'
import { EraMemory } from '../../../upstreams/connection/era-memory.js'
import { settable } from '../../support/clocks.js'
import { createEntry, FakeUpstream, legacyInitialize, type FakeLink } from '../../support/fake-upstream.js'
import { modern, newestLegacy } from '../../support/specification/revisions.js'
import { takeTime, until } from '../../support/wait.js'
import { connectTo } from './connecting.js'

const SILENT = (): undefined => undefined
const discovered = {
  result: {
    resultType: 'complete',
    supportedVersions: [modern.version],
    capabilities: { tools: {} },
    instructions: 'be kind'
  }
}
const fails =
  (status: number | undefined) =>
    ({ id }: { id: string | number }, link: FakeLink): undefined => {
      link.events.failed(id, new Error('it does not work'), status)
    }

t.test('a server that answers server/discover is spoken to without a handshake', async t => {
  const upstream = new FakeUpstream({ 'server/discover': () => discovered })
  const connection = await connectTo(t, upstream, { probeWait: 60_000 })
  t.equal(connection.revision.version, modern.version)
  t.strictSame(connection.server, { capabilities: { tools: {} }, instructions: 'be kind' })
  t.strictSame(upstream.methods, [['server/discover']])
  t.equal(upstream.link.revision?.version, modern.version)
})

for (const [what, reaction] of Object.entries({
  'refuses the method': { error: { code: -32601, message: 'no' } },
  'wants initialize first': { error: { code: -32602, message: 'initialize first' } },
  'answers anything with an empty result': { result: {} },
  'answers with a text': { result: 'hello' },
  'supports older versions only': { result: { supportedVersions: [newestLegacy.version], capabilities: {} } },
  'names older versions in an error': {
    error: { code: -32022, message: 'no', data: { supported: [newestLegacy.version] } }
  }
})) {
  t.test(`a server that ${what} gets initialize at once`, async t => {
    const upstream = new FakeUpstream({ 'server/discover': () => reaction })
    const connection = await connectTo(t, upstream, { probeWait: 60_000 })
    t.equal(connection.revision.version, newestLegacy.version)
    t.strictSame(upstream.methods, [['server/discover', 'initialize', 'notifications/initialized']])
  })
}

t.test('a silent server gets initialize close behind, on the same link', async t => {
  const upstream = new FakeUpstream({ 'server/discover': SILENT })
  const connection = await connectTo(t, upstream)
  t.equal(connection.revision.version, newestLegacy.version)
  t.strictSame(upstream.methods, [['server/discover', 'initialize', 'notifications/initialized']])
})

for (const transport of ['stdio', 'websocket', 'sse'] as const) {
  t.test(`a slow server of both eras is started again and spoken to without a handshake (${transport})`, async t => {
    const { values } = memoryStore()
    let isAnswered = false
    const upstream: FakeUpstream = new FakeUpstream(
      {
        'server/discover': async (_request, link) => {
          if (upstream.links[0] === link) await until(() => link.received.length === 2)
          isAnswered = true
          return discovered
        },
        initialize: async () => {
          await until(() => isAnswered)
          return { result: legacyInitialize }
        }
      },
      transport
    )
    t.equal((await connectTo(t, upstream, { values })).revision.version, modern.version)
    t.strictSame(upstream.methods, [['server/discover', 'initialize'], ['server/discover']])
    t.ok(upstream.links[0]?.isClosed)
    t.equal((await connectTo(t, upstream, { values, probeWait: 1 })).revision.version, modern.version)
    t.strictSame(upstream.methods[2], ['server/discover'], 'however slow it is')
  })
}

for (const transport of ['stdio', 'http'] as const) {
  t.test(
    `a server that answers initialize first and server/discover after it needs no handshake (${transport})`,
    async t => {
      let isInitialized = false
      const upstream: FakeUpstream = new FakeUpstream(
        {
          'server/discover': async (_request, link) => {
            if (upstream.links[0] === link) await until(() => isInitialized)
            return discovered
          },
          initialize: () => {
            isInitialized = true
            return { result: legacyInitialize }
          }
        },
        transport
      )
      t.equal((await connectTo(t, upstream)).revision.version, modern.version)
      t.strictSame(upstream.methods, [['server/discover', 'initialize'], ['server/discover']])
    }
  )

  t.test(
    `a server that answers server/discover when it is in use already is connected anew without a handshake (${transport})`,
    async t => {
      let isFree = false
      let reopened = 0
      const upstream: FakeUpstream = new FakeUpstream(
        {
          'server/discover': async (_request, link) => {
            if (upstream.links[0] === link) await until(() => isFree)
            return discovered
          },
          'tools/call': () => ({ result: { resultType: 'complete', content: [] } })
        },
        transport
      )
      const connection = await connectTo(t, upstream, {
        onReopen: () => {
          reopened++
        }
      })
      t.equal(connection.revision.version, newestLegacy.version)
      isFree = true
      await until(() => reopened === 1)
      t.equal(connection.revision.version, modern.version)
      await connection.request({ method: 'tools/call', params: {} })
      t.strictSame(upstream.methods, [
        ['server/discover', 'initialize', 'notifications/initialized'],
        ['server/discover', 'tools/call']
      ])
      t.ok(upstream.links[0]?.isClosed)
    }
  )
}

t.test('a program that has written nothing yet is starting, and gets no initialize meanwhile', async t => {
  const upstream = new FakeUpstream({ 'server/discover': async () => { await takeTime(30); return discovered } })
  upstream.alive = new Promise(() => {})
  t.equal((await connectTo(t, upstream, { probeWait: 1 })).revision.version, modern.version)
  t.strictSame(upstream.methods, [['server/discover']])
})

t.test('a program that has written something and does not answer server/discover gets initialize', async t => {
  const upstream = new FakeUpstream({ 'server/discover': SILENT })
  upstream.alive = Promise.resolve()
  t.equal((await connectTo(t, upstream, { probeWait: 1 })).revision.version, newestLegacy.version)
})

t.test('over HTTP a slow server that answers both is spoken to without a handshake', async t => {
  const upstream = new FakeUpstream({
    'server/discover': async (_request, link) => { await until(() => link.received.length === 2); return discovered },
    initialize: SILENT
  }, 'http')
  t.equal((await connectTo(t, upstream, { probeWait: 1 })).revision.version, modern.version)
  t.strictSame(upstream.methods, [['server/discover', 'initialize']])
})

t.test('a slow server that refuses initialize first is waited for', async t => {
  let refused = false
  const upstream = new FakeUpstream({
    initialize: () => { refused = true; return { error: { code: -32601, message: 'no' } } },
    'server/discover': async () => { await until(() => refused); return discovered }
  })
  t.equal((await connectTo(t, upstream)).revision.version, modern.version)
})

t.test(
  'a server that exits when it is asked is started again without the question, and never asked again that day',
  async t => {
    const { values } = memoryStore()
    const upstream = new FakeUpstream({ 'server/discover': (_request, link) => link.end('it exited with code 1') })
    t.equal((await connectTo(t, upstream, { values })).revision.version, newestLegacy.version)
    t.strictSame(upstream.methods, [['server/discover'], ['initialize', 'notifications/initialized']])
    await connectTo(t, upstream, { values })
    t.strictSame(upstream.methods[2], ['initialize', 'notifications/initialized'], 'by another process')
    settable(t).later = 24 * 60 * 60_000
    await connectTo(t, upstream, { values })
    t.strictSame(
      upstream.methods.slice(3),
      [['server/discover'], ['initialize', 'notifications/initialized']],
      'a day later'
    )
  }
)

t.test('a server that exits whatever it is asked is started twice, and the reason is how it ended', async t => {
  const exits = (_request: object, link: FakeLink): void => link.end('it exited with code 3')
  const upstream = new FakeUpstream({ 'server/discover': exits, initialize: exits })
  await t.rejects(connectTo(t, upstream), { message: 'it exited with code 3' })
  t.equal(upstream.links.length, 2)
})

t.test('a server that refuses initialize is named as the one that refused it', async t => {
  const upstream = new FakeUpstream({
    'server/discover': () => ({ error: { code: -32601, message: 'no' } }),
    initialize: () => ({ error: { code: -32000, message: 'no key' } })
  })
  await t.rejects(connectTo(t, upstream), { message: 'it refused initialize with error -32000: no key' })
})

t.test('a server of versions that are not known is refused in words', async t => {
  const future = { protocolVersion: '2099-01-01', capabilities: {} }
  await t.rejects(
    connectTo(t, new FakeUpstream({ initialize: () => ({ result: future }) })),
    /fake failed: it answered initialize with a version/
  )
  await t.rejects(
    connectTo(t, new FakeUpstream({ 'server/discover': () => ({ result: { supportedVersions: ['2099-01-01'] } }) })),
    /supports no version/
  )
  await t.rejects(
    connectTo(
      t,
      new FakeUpstream({
        'server/discover': () => ({ error: { code: -32022, message: 'no', data: { supported: ['2099-01-01'] } } })
      })
    ),
    /refused server\/discover with error -32022/
  )
})

t.test('any known version that a server answers initialize with is taken', async t => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    const upstream = new FakeUpstream({
      initialize: () => ({ result: { ...legacyInitialize, protocolVersion: version } })
    })
    t.equal((await connectTo(t, upstream)).revision.version, version)
    t.equal(upstream.link.last('initialize').params['protocolVersion'], newestLegacy.version)
  }
})

for (const status of [401, 403, 429, undefined]) {
  t.test(
    `over HTTP, ${status === undefined ? 'a lost connection' : `status ${status}`} says nothing about the era`,
    async t => {
      const { values } = memoryStore()
      const upstream = new FakeUpstream({ 'server/discover': fails(status) }, 'http')
      await t.rejects(connectTo(t, upstream, { values }), { message: 'it does not work' })
      t.strictSame(upstream.methods, [['server/discover']])
      t.strictSame(await values.keys('upstreams/eras'), [])
    }
  )
}

t.test('over HTTP, an error body with status 401 says nothing about the era', async t => {
  const upstream = new FakeUpstream(
    {
      'server/discover': ({ id }, link) => {
        link.events.message({ kind: 'response', id, error: { code: -32600, message: 'who are you' } }, undefined, 401)
      }
    },
    'http'
  )
  await t.rejects(connectTo(t, upstream), { message: /^it answered with status 401: .*headers/ })
  t.strictSame(upstream.methods, [['server/discover']])
})

for (const status of [200, 500, 501, 502, 503]) {
  t.test(
    `over HTTP, a server that answers server/discover with status ${status} and no message gets initialize once`,
    async t => {
      const { values } = memoryStore()
      const upstream = new FakeUpstream({ 'server/discover': fails(status) }, 'http')
      t.equal((await connectTo(t, upstream, { values })).revision.version, newestLegacy.version)
      t.strictSame(upstream.methods, [
        ['server/discover', 'initialize', 'server/discover', 'notifications/initialized']
      ])
      const down = new FakeUpstream({ 'server/discover': fails(status), initialize: fails(status) }, 'http')
      await t.rejects(connectTo(t, down), { message: 'it does not work' })
      t.strictSame(down.methods, [['server/discover', 'initialize']])
    }
  )
}

t.test('over HTTP, a server without a handshake that was not well when it was asked first is asked again', async t => {
  const { values } = memoryStore()
  let asked = 0
  const upstream = new FakeUpstream(
    { 'server/discover': (request, link) => (asked++ === 0 ? fails(503)(request, link) : discovered) },
    'http'
  )
  t.equal((await connectTo(t, upstream, { values })).revision.version, modern.version)
  t.strictSame(upstream.methods, [['server/discover', 'initialize', 'server/discover'], ['server/discover']])
  const down = new FakeUpstream({ 'server/discover': fails(503) }, 'http')
  await t.rejects(connectTo(t, down, { values }), { message: 'it does not work' })
  t.strictSame(down.methods, [['server/discover']], 'one that is known to need none gets no initialize')
})

t.test(
  'over HTTP, a server that fails although it needed no handshake before is asked as an unknown one next time',
  async t => {
    const { values } = memoryStore()
    await connectTo(t, new FakeUpstream({ 'server/discover': () => discovered }, 'http'), { values })
    const eras = new EraMemory(values, createEntry())
    const replaced = new FakeUpstream({ 'server/discover': fails(500) }, 'http')
    await t.rejects(connectTo(t, replaced, { eras }), { message: 'it does not work' })
    t.equal(await new EraMemory(values, createEntry()).recall(), undefined, 'nor does another process know it')
    t.equal((await connectTo(t, replaced, { eras })).revision.version, newestLegacy.version)
    t.strictSame(replaced.methods, [
      ['server/discover'],
      ['server/discover', 'initialize', 'server/discover', 'notifications/initialized']
    ])
  }
)

for (const status of [401, 429, undefined]) {
  t.test(
    `over HTTP, ${status === undefined ? 'a lost connection' : `status ${status}`} is no reason to forget the era`,
    async t => {
      const { values } = memoryStore()
      await connectTo(t, new FakeUpstream({ 'server/discover': () => discovered }, 'http'), { values })
      await t.rejects(connectTo(t, new FakeUpstream({ 'server/discover': fails(status) }, 'http'), { values }))
      t.match(await new EraMemory(values, createEntry()).recall(), { modern: true })
    }
  )
}

t.test('an entry with a revision decides what the server is spoken to in', async t => {
  const both = {
    'server/discover': () => discovered,
    initialize: () => ({ result: { ...legacyInitialize, protocolVersion: '2025-06-18' } })
  }
  const legacy = new FakeUpstream(both)
  t.equal(
    (await connectTo(t, legacy, { entry: createEntry({ revision: '2025-06-18' }) })).revision.version,
    '2025-06-18'
  )
  t.strictSame(legacy.methods, [['initialize', 'notifications/initialized']])
  t.equal(legacy.link.last('initialize').params['protocolVersion'], '2025-06-18')
  const stateless = new FakeUpstream(both)
  t.equal(
    (await connectTo(t, stateless, { entry: createEntry({ revision: modern.version }), probeWait: 1 })).revision
      .version,
    modern.version
  )
  t.strictSame(stateless.methods, [['server/discover']])
  await t.rejects(
    connectTo(t, new FakeUpstream({}), { entry: createEntry({ revision: modern.version }) }),
    /does not answer server\/discover/
  )
})

for (const status of [400, 404, 405]) {
  t.test(`over HTTP, status ${status} without an error of that era leads to initialize`, async t => {
    const upstream = new FakeUpstream({ 'server/discover': fails(status) }, 'http')
    t.equal((await connectTo(t, upstream)).revision.version, newestLegacy.version)
    t.strictSame(upstream.methods, [['server/discover', 'initialize', 'notifications/initialized']])
  })
}

t.test(
  'the era is remembered: in one process the server is not asked again, another one asks without waiting',
  async t => {
    const { values } = memoryStore()
    const entry = createEntry()
    const eras = new EraMemory(values, entry)
    const upstream = new FakeUpstream({ 'server/discover': SILENT })
    await connectTo(t, upstream, { eras })
    await connectTo(t, upstream, { eras })
    t.strictSame(upstream.methods[1], ['initialize', 'notifications/initialized'])
    await connectTo(t, upstream, { values, probeWait: 60_000 })
    t.strictSame(upstream.methods[2], ['server/discover', 'initialize', 'notifications/initialized'])
  }
)

t.test(
  'a remembered era is corrected when the server was upgraded, and for another server of the same name',
  async t => {
    const { values } = memoryStore()
    await connectTo(t, new FakeUpstream({}), { values })
    const upgraded = new FakeUpstream({ 'server/discover': () => discovered })
    t.equal((await connectTo(t, upgraded, { values })).revision.version, modern.version)
    const other = createEntry({ address: { kind: 'stdio', command: 'other', args: [], env: {}, cwd: undefined } })
    t.equal(await new EraMemory(values, other).recall(), undefined)
    t.equal((await connectTo(t, new FakeUpstream({}), { values })).revision.version, newestLegacy.version, 'and back')
  }
)

t.test('the era of a changed variable or header is the same, and neither is stored', async t => {
  const { values } = memoryStore()
  const entry = createEntry({
    address: { kind: 'stdio', command: 'fake', args: [], env: { KEY: 'secret' }, cwd: undefined }
  })
  await connectTo(t, new FakeUpstream({}), { values, entry })
  t.notMatch(JSON.stringify(await values.list('upstreams/eras')), /secret/)
  t.ok(await new EraMemory(values, createEntry()).recall())
})
