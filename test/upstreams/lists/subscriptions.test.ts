import t from 'tap'
import { until } from '../../support/wait.js'
import { FakeUpstream } from './fake-upstream.js'
import { served } from './served.js'

const URI = 'x://1'
const updates = (client: { notifications: Array<{ method: string }> }): number => client.notifications.filter(({ method }) => method === 'notifications/resources/updated').length

t.test('one subscription for each URI, made again after a restart, ended with the last listener', async t => {
  const upstream = new FakeUpstream('a', { resources: [{ uri: URI, name: 'x' }], answers: { 'resources/subscribe': () => ({}), 'resources/unsubscribe': () => ({}) } })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const [one, two, inView] = [await open(), await open(), await open({ view: 'a' })]
  for (const client of [one, two, inView]) await client.request('resources/subscribe', { uri: URI })
  t.strictSame(upstream.connection.of('resources/subscribe').map(({ params }) => params), [{ uri: URI }])
  upstream.connection.emit('notifications/resources/updated', { uri: URI })
  await until(() => [one, two, inView].every(client => updates(client) === 1), 'the update')
  const first = upstream.connection
  await first.close()
  await connect(upstream)
  t.strictSame(upstream.connection.of('resources/subscribe').map(({ params }) => params), [{ uri: URI }])
  await until(() => [one, two, inView].every(client => updates(client) === 2), 'an update for what may have been missed')
  upstream.connection.emit('notifications/resources/updated', { uri: URI })
  await until(() => updates(two) === 3, 'the update')
  for (const client of [one, two]) await client.request('resources/unsubscribe', { uri: URI })
  await one.request('ping')
  t.equal(upstream.connection.of('resources/unsubscribe').length, 0)
  await inView.request('resources/unsubscribe', { uri: URI })
  await until(() => upstream.connection.of('resources/unsubscribe').length === 1, 'the end')
})

t.test('a subscription that the upstream refuses is refused', async t => {
  const upstream = new FakeUpstream('a', { resources: [{ uri: URI, name: 'x' }], answers: { 'resources/subscribe': () => { throw new Error('no') } } })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  await t.rejects(client.request('resources/subscribe', { uri: URI }))
  await t.rejects(client.request('resources/subscribe', { uri: URI }))
  t.equal(upstream.connection.of('resources/subscribe').length, 2)
})

t.test('a stateless upstream has one listen stream: the next is acknowledged before the former ends', async t => {
  const ended: unknown[] = []
  const upstream = new FakeUpstream('a', {
    modern: true,
    resources: [{ uri: URI, name: 'x' }, { uri: 'x://2', name: 'y' }],
    capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } },
    answers: {
      'subscriptions/listen': async (params, { signal }) => await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          ended.push(params.notifications)
          reject(new Error('aborted'))
        })
      })
    }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const listens = (): unknown[] => upstream.connection.of('subscriptions/listen').map(({ params }) => params.notifications)
  const acknowledge = (): void => upstream.connection.emit('notifications/subscriptions/acknowledged')
  const lists = { toolsListChanged: true, resourcesListChanged: true }
  t.strictSame(listens(), [lists])
  acknowledge()
  const client = await open()
  await client.request('resources/subscribe', { uri: URI })
  t.strictSame(listens(), [lists, { ...lists, resourceSubscriptions: [URI] }])
  t.strictSame(ended, [], 'not before the next is acknowledged')
  acknowledge()
  t.strictSame(ended, [lists])
  await client.request('resources/subscribe', { uri: 'x://2' })
  acknowledge()
  t.strictSame(listens().at(-1), { ...lists, resourceSubscriptions: [URI, 'x://2'] })
  upstream.connection.emit('notifications/resources/updated', { uri: URI })
  await until(() => updates(client) === 1, 'the update')
  for (const uri of [URI, 'x://2']) await client.request('resources/unsubscribe', { uri })
  acknowledge()
  await until(() => listens().length === 5, 'the end')
  acknowledge()
  t.strictSame(listens().at(-1), lists)
})

t.test('a listen stream that the upstream ends is opened again, and the lists are read again', async t => {
  let end: () => void = () => {}
  const upstream = new FakeUpstream('a', {
    modern: true,
    capabilities: { tools: { listChanged: true } },
    answers: { 'subscriptions/listen': async () => await new Promise(resolve => { end = () => resolve({}) }) }
  })
  const { connect } = await served(t, [upstream])
  await connect(upstream)
  upstream.connection.emit('notifications/subscriptions/acknowledged')
  end()
  await until(() => upstream.connection.of('subscriptions/listen').length === 2, 'the next stream')
  const before = upstream.connection.of('tools/list').length
  upstream.connection.emit('notifications/subscriptions/acknowledged')
  await until(() => upstream.connection.of('tools/list').length > before, 'another reading')
})

t.test('many subscriptions to a stateless upstream at once are few requests, and none ends before the next is acknowledged', async t => {
  const ended: unknown[] = []
  const resources = Array.from({ length: 200 }, (_, index) => ({ uri: `x://${index}`, name: 'x' }))
  const upstream = new FakeUpstream('a', {
    modern: true,
    resources,
    capabilities: { resources: { subscribe: true } },
    answers: {
      'subscriptions/listen': async (params, { signal }) => await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => { ended.push(params.notifications); reject(new Error('aborted')) })
      })
    }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  await Promise.all(resources.map(async ({ uri }) => await client.request('resources/subscribe', { uri })))
  const listens = (): Array<{ resourceSubscriptions: string[] }> => upstream.connection.of('subscriptions/listen').map(({ params }) => params.notifications as { resourceSubscriptions: string[] })
  t.equal(listens().length, 1)
  upstream.connection.emit('notifications/subscriptions/acknowledged')
  t.strictSame(listens().map(({ resourceSubscriptions }) => resourceSubscriptions.length), [1, 200])
  t.strictSame(ended, [])
  upstream.connection.emit('notifications/subscriptions/acknowledged')
  t.strictSame(ended, [{ resourceSubscriptions: ['x://0'] }])
})
