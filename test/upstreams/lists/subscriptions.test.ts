import t from 'tap'
import { until } from '../../support/wait.js'
import { FakeUpstream } from './fake-upstream.js'
import { served } from './served.js'

const URI = 'x://1'
const updates = (client: { notifications: Array<{ method: string }> }): number =>
  client.notifications.filter(({ method }) => method === 'notifications/resources/updated').length

t.test('one subscription for each URI, made again after a restart, ended with the last listener', async t => {
  const upstream = new FakeUpstream('a', {
    resources: [{ uri: URI, name: 'x' }],
    answers: { 'resources/subscribe': () => ({}), 'resources/unsubscribe': () => ({}) }
  })
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
  await until(
    () => [one, two, inView].every(client => updates(client) === 2),
    'an update for what may have been missed'
  )
  upstream.connection.emit('notifications/resources/updated', { uri: URI })
  await until(() => updates(two) === 3, 'the update')
  for (const client of [one, two]) await client.request('resources/unsubscribe', { uri: URI })
  await one.request('ping')
  t.equal(upstream.connection.of('resources/unsubscribe').length, 0)
  await inView.request('resources/unsubscribe', { uri: URI })
  await until(() => upstream.connection.of('resources/unsubscribe').length === 1, 'the end')
})

t.test('a subscription that the upstream refuses is refused', async t => {
  const upstream = new FakeUpstream('a', {
    resources: [{ uri: URI, name: 'x' }],
    answers: {
      'resources/subscribe': () => {
        throw new Error('no')
      }
    }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  await t.rejects(client.request('resources/subscribe', { uri: URI }))
  await t.rejects(client.request('resources/subscribe', { uri: URI }))
  t.equal(upstream.connection.of('resources/subscribe').length, 2)
})

t.test('a subscription that the upstream never answers is given up, and so is its end', async t => {
  const given: string[] = []
  const never =
    (method: string) =>
      async (_params: unknown, { signal }: { signal?: AbortSignal | undefined }): Promise<never> =>
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            given.push(method)
            reject(new Error('aborted'))
          })
        })
  const methods = ['resources/subscribe', 'resources/unsubscribe']
  const upstream = new FakeUpstream(
    'a',
    {
      resources: [{ uri: URI, name: 'x' }],
      answers: Object.fromEntries(methods.map(method => [method, never(method)]))
    },
    { timeout: 20 }
  )
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  await t.rejects(client.request('resources/subscribe', { uri: URI }), {
    message: /a failed: it did not answer resources\/subscribe within 20 ms/
  })
  await until(() => given.length === 2, 'the end of both')
  t.strictSame(given, methods)
})

t.test(
  'a stateless upstream has a listen stream for lists and one for resources: the next is acknowledged before the former ends',
  async t => {
    const ended: unknown[] = []
    const upstream = new FakeUpstream('a', {
      modern: true,
      resources: [
        { uri: URI, name: 'x' },
        { uri: 'x://2', name: 'y' }
      ],
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } },
      answers: {
        'subscriptions/listen': async (params, { signal }) =>
          await new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              ended.push(params.notifications)
              reject(new Error('aborted'))
            })
          })
      }
    })
    const { client: open, connect } = await served(t, [upstream])
    await connect(upstream)
    const listens = (): unknown[] =>
      upstream.connection.of('subscriptions/listen').map(({ params }) => params.notifications)
    const acknowledge = (notifications: unknown): void =>
      upstream.connection.emit('notifications/subscriptions/acknowledged', { notifications })
    const lists = { toolsListChanged: true, resourcesListChanged: true }
    const [one, both] = [{ resourceSubscriptions: [URI] }, { resourceSubscriptions: [URI, 'x://2'] }]
    t.strictSame(listens(), [lists])
    acknowledge(lists)
    const client = await open()
    await client.request('resources/subscribe', { uri: URI })
    t.strictSame(listens(), [lists, one])
    acknowledge(one)
    await client.request('resources/subscribe', { uri: 'x://2' })
    t.strictSame(listens(), [lists, one, both])
    acknowledge(lists)
    t.strictSame(ended, [], 'not before the next is acknowledged')
    acknowledge(both)
    t.strictSame(ended, [one])
    upstream.connection.emit('notifications/resources/updated', { uri: URI })
    await until(() => updates(client) === 1, 'the update')
    await client.request('resources/unsubscribe', { uri: 'x://2' })
    acknowledge(one)
    await until(() => ended.length === 2, 'the end of the former')
    await client.request('resources/unsubscribe', { uri: URI })
    await until(() => ended.length === 3, 'the end')
    t.strictSame(listens(), [lists, one, both, one], 'the one for lists stays')
  }
)

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

t.test(
  'many subscriptions to a stateless upstream at once are few requests, and none ends before the next is acknowledged',
  async t => {
    const ended: unknown[] = []
    const resources = Array.from({ length: 200 }, (_, index) => ({ uri: `x://${index}`, name: 'x' }))
    const upstream = new FakeUpstream('a', {
      modern: true,
      resources,
      capabilities: { resources: { subscribe: true } },
      answers: {
        'subscriptions/listen': async (params, { signal }) =>
          await new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              ended.push(params.notifications)
              reject(new Error('aborted'))
            })
          })
      }
    })
    const { client: open, connect } = await served(t, [upstream])
    await connect(upstream)
    const client = await open()
    await Promise.all(resources.map(async ({ uri }) => await client.request('resources/subscribe', { uri })))
    const listens = (): Array<{ resourceSubscriptions: string[] }> =>
      upstream.connection
        .of('subscriptions/listen')
        .map(({ params }) => params.notifications as { resourceSubscriptions: string[] })
    t.equal(listens().length, 1)
    upstream.connection.emit('notifications/subscriptions/acknowledged')
    t.strictSame(
      listens().map(({ resourceSubscriptions }) => resourceSubscriptions.length),
      [1, 200]
    )
    t.strictSame(ended, [])
    upstream.connection.emit('notifications/subscriptions/acknowledged')
    t.strictSame(ended, [{ resourceSubscriptions: ['x://0'] }])
  }
)

t.test(
  'more resources than a server takes in one request are watched by several, and a refusal concerns no other',
  async t => {
    const resources = Array.from({ length: 1_300 }, (_, index) => ({ uri: `x://${index}`, name: 'x' }))
    const wanted: string[][] = []
    const upstream = new FakeUpstream('a', {
      modern: true,
      resources,
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      answers: {
        'subscriptions/listen': async ({ notifications }, { signal }) => {
          const { resourceSubscriptions: uris = [] } = notifications as { resourceSubscriptions?: string[] }
          if (uris.length > 1_024) throw new Error('too many')
          wanted.push(uris)
          setImmediate(() => upstream.connection.emit('notifications/subscriptions/acknowledged', { notifications }))
          return await new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => {
              wanted.splice(wanted.indexOf(uris), 1)
              reject(new Error('aborted'))
            })
          })
        }
      }
    })
    const { client: open, connect } = await served(t, [upstream])
    await connect(upstream)
    const clients = [await open(), await open()]
    for (const [index, { uri }] of resources.entries()) {
      await clients[index % 2]?.request('resources/subscribe', { uri })
    }
    await until(() => wanted.flat().length === resources.length, 'all of them')
    t.strictSame(new Set(wanted.flat()).size, resources.length, 'each once')
    t.ok(wanted.every(uris => uris.length <= 500))
    t.ok(
      wanted.some(uris => uris.length === 0),
      'that of the lists goes on'
    )
  }
)

t.test('what one caller watches leaves half to the others, and is free again when it has left', async t => {
  const templates = [{ uriTemplate: 'x://{+id}', name: 'x' }]
  const upstream = new FakeUpstream('a', {
    templates,
    capabilities: { resources: { subscribe: true } },
    answers: { 'resources/subscribe': () => ({}), 'resources/unsubscribe': () => ({}) }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const identity = (principal: string): { principal: string, scopes: 'all' } => ({ principal, scopes: 'all' })
  const long = (index: number): string => `x://${index}/${'y'.repeat(1_900)}`
  const many = await Promise.all(Array.from({ length: 12 }, async () => await open({ identity: identity('bob') })))
  const outcomes = await Promise.allSettled(
    many.flatMap((client, of) =>
      Array.from(
        { length: 30 },
        async (_, index) => await client.request('resources/subscribe', { uri: long(of * 100 + index) })
      )
    )
  )
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  t.ok(refused.length > 50 && refused.length < 150, `${refused.length} of 360`)
  t.match(refused[0], { reason: { message: /a is not available: this caller watches too many/ } })
  const ada = await open({ identity: identity('ada') })
  for (let index = 0; index < 30; index++) await ada.request('resources/subscribe', { uri: long(10_000 + index) })
  for (const client of many) client.close()
  const bob = await open({ identity: identity('bob') })
  for (let index = 0; index < 30; index++) await bob.request('resources/subscribe', { uri: long(20_000 + index) })
  const { caller, signal } = upstream.connection.of('resources/subscribe').at(-1) ?? {}
  t.equal(caller, 'principal bob', 'so that it has the share of its caller of the connections')
  t.type(signal, AbortSignal)
})
