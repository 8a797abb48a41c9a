import t from 'tap'
import type { Id } from '../../../protocol/wire/jsonrpc.js'
import { FakeUpstream, legacyInitialize, type FakeLink } from '../../support/fake-upstream.js'
import { until } from '../../support/wait.js'
import { connectTo } from './connecting.js'

const isForgotten = (upstream: FakeUpstream, link: FakeLink): boolean => upstream.links.indexOf(link) < lost
let lost = 0

/** The first `lost` links have a session that the server has forgotten. */
function forgetful (): FakeUpstream {
  const upstream: FakeUpstream = new FakeUpstream({
    initialize: () => ({ result: legacyInitialize }),
    'tools/call': ({ id }, link) => {
      if (!isForgotten(upstream, link)) return { result: { link: upstream.links.indexOf(link) } }
      link.events.expired?.(id)
      return undefined
    }
  }, 'http')
  return upstream
}

t.beforeEach(() => { lost = 0 })

t.test(
  'a lost session leads to one handshake for all calls, which are sent once more, and to one announcement',
  async t => {
    const upstream = forgetful()
    let reopened = 0
    const connection = await connectTo(t, upstream, { onReopen: () => reopened++ })
    lost = 1
    const results = await Promise.all(
      Array.from({ length: 20 }, async () => await connection.request({ method: 'tools/call', params: {} }))
    )
    t.ok(results.every(({ link }) => link === 1))
    t.equal(upstream.links.length, 2)
    t.equal(reopened, 1)
    t.strictSame(upstream.methods[1]?.slice(0, 2), ['initialize', 'notifications/initialized'], 'the era is known')
    t.equal(upstream.methods[1]?.filter(method => method === 'tools/call').length, 20)
    await until(() => upstream.links[0]?.isClosed === true)
  }
)

t.test('a call that is refused when the new session is there already does not open a third', async t => {
  let late: Id | undefined
  const upstream: FakeUpstream = new FakeUpstream({
    'tools/call': ({ id, params }, link) => {
      if (link !== upstream.links[0]) return { result: { link: 1 } }
      if (params['late'] === true) late = id
      else link.events.expired?.(id)
      return undefined
    }
  }, 'http')
  const connection = await connectTo(t, upstream)
  const answer = connection.request({ method: 'tools/call', params: { late: true } })
  await until(() => late !== undefined)
  await connection.request({ method: 'tools/call', params: {} })
  upstream.links[0]?.events.expired?.(late)
  t.match(await answer, { link: 1 })
  t.equal(upstream.links.length, 2)
})

t.test('a session that is lost again at once is not opened for ever', async t => {
  const upstream = forgetful()
  const connection = await connectTo(t, upstream)
  lost = Infinity
  await t.rejects(
    connection.request({ method: 'tools/call', params: {} }),
    /server fake failed: the session is not known any more/
  )
  t.ok(upstream.links.length <= 3)
})

t.test(
  'an upstream that forgets each session as soon as it has begun fails, so that it is left alone for a while',
  async t => {
    const upstream: FakeUpstream = new FakeUpstream({ initialize: () => ({ result: legacyInitialize }) }, 'http')
    let reopened = 0
    const connection = await connectTo(t, upstream, {
      onReopen: () => {
        reopened++
        setImmediate(() => upstream.link.events.expired?.(undefined))
      }
    })
    const closed = new Promise<Error>(resolve => connection.onClose(resolve))
    upstream.link.events.expired?.(undefined)
    t.match((await closed).message, /it forgets each session as soon as it has begun/)
    t.equal(reopened, 6)
  }
)

t.test('a session that is lost between calls is opened again before the next', async t => {
  const upstream = forgetful()
  const connection = await connectTo(t, upstream)
  lost = 1
  upstream.link.events.expired?.(undefined)
  t.match(await connection.request({ method: 'tools/call', params: {} }), { link: 1 })
  t.notOk(upstream.methods[0]?.includes('tools/call'))
})

t.test('calls that the upstream does not refuse go on in the former session', async t => {
  const upstream: FakeUpstream = new FakeUpstream(
    { 'tools/call': () => {}, 'tools/list': () => ({ result: {} }) },
    'http'
  )
  const connection = await connectTo(t, upstream)
  const running = connection.request({ method: 'tools/call', params: {} })
  await until(() => upstream.link.received.some(({ method }) => method === 'tools/call'))
  const [former] = upstream.links
  former?.events.expired?.(undefined)
  await connection.request({ method: 'tools/list', params: {} })
  former?.send({ id: former.last('tools/call').id, result: { late: true } })
  t.strictSame(await running, { late: true })
  await until(() => former?.isClosed === true)
  t.equal(connection.closed, false)
})

t.test('an upstream that cannot be agreed with any more closes the connection', async t => {
  let isGone = false
  const upstream: FakeUpstream = new FakeUpstream(
    { initialize: () => (isGone ? { error: { code: -32603, message: 'no' } } : { result: legacyInitialize }) },
    'http'
  )
  const connection = await connectTo(t, upstream)
  const closed = new Promise<Error>(resolve => connection.onClose(resolve))
  isGone = true
  upstream.link.events.expired?.(undefined)
  t.match(await closed, { message: 'no' })
  await t.rejects(connection.request({ method: 'tools/call', params: {} }))
  await until(() => upstream.links.every(link => link.isClosed))
})

t.test(
  'calls that wait for a session that cannot be opened again get an error that names the upstream, and no reason of the machine',
  async t => {
    const upstream: FakeUpstream = new FakeUpstream(
      {
        initialize: (_request, link) =>
          link === upstream.links[0]
            ? { result: legacyInitialize }
            : { error: { code: -32602, message: 'no such file /secret' } },
        'tools/call': ({ id, params }, link) => {
          if (params['expire'] === true) link.events.expired?.(id)
        }
      },
      'http'
    )
    const connection = await connectTo(t, upstream)
    const refused = connection.request({ method: 'tools/call', params: { expire: true } })
    const waiting = connection.request({ method: 'tools/call', params: {} })
    upstream.link.events.expired?.(undefined)
    const later = connection.request({ method: 'tools/call', params: {} })
    const answers = await Promise.all([refused, later].map(async call => await call.catch((error: unknown) => error)))
    for (const error of answers) {
      t.match(error, {
        code: -32603,
        message: /^The upstream server fake is not available: its session was lost/,
        data: { upstream: 'fake' }
      })
      t.notMatch(JSON.stringify(error), /secret/)
    }
    await t.rejects(waiting, { message: /upstream server fake was lost before it answered/ })
  }
)
