import t, { type Test } from 'tap'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import { bestTime, timeOf } from '../support/timing.js'
import { inTime } from '../support/wait.js'
import type { Json } from '../support/recorder.js'
import { TRANSPORTS, through, type Call } from './transports.js'
import { LISTENERS, listener, nextNotification } from './listeners.js'
import { dataOf, ERAS, Speaker, textOf } from '../support/speaker.js'

const UPDATED = 'notifications/resources/updated'
const LIST_CHANGED = 'notifications/resources/list_changed'
const COUNTER = 'server://counter'

const dataIn = async (t: Test, where: string): Promise<{ data?: string }> =>
  where === 'on disk' ? { data: await folder(t, {}) } : {}

async function value (speaker: Speaker): Promise<string> {
  const { result } = await speaker.request('resources/read', { uri: COUNTER })
  return (result.contents as [{ text: string }])[0].text
}

for (const where of ['in memory', 'on disk']) {
  t.test(`${where}: a thousand increments at once, through every transport, add up`, async t => {
    const served = await listening(t, await dataIn(t, where))
    const [memory, http, socket] = (await Promise.all(
      TRANSPORTS.map(async transport => await through(t, transport, served))
    )) as [Call, Call, Call]
    // A POST each takes longest, so there are fewer of them.
    const transportOf = (index: number): Call => index % 10 === 0 ? http : index % 2 === 0 ? memory : socket
    const answers = await Promise.all(
      Array.from(
        { length: 999 },
        async (_, index) => await transportOf(index)('increment_counter', index % 3 === 0 ? {} : { amount: 1 })
      )
    )
    const values = answers.map(answer => (answer as { structuredContent: { value: number } }).structuredContent.value)
    t.strictSame(
      values.sort((a, b) => a - b),
      Array.from({ length: 999 }, (_, index) => index + 1),
      'each value is given once'
    )
    t.match(await memory('increment_counter'), {
      structuredContent: { value: 1000 },
      content: [{ text: 'Counter: 1000' }]
    })
    t.equal(await value(new Speaker(served.app)), '1000')
  })
}

t.test('two gateways on one folder count together, without a gap and without a repetition', async t => {
  const data = await folder(t, {})
  const speakers = [
    new Speaker(await gateway(t, { data, http: false })),
    new Speaker(await gateway(t, { data, http: false }))
  ]
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => await speakers[index % 2]?.tool('increment_counter'))
  )
  t.strictSame(
    answers.map(answer => (answer === undefined ? 0 : dataOf<{ value: number }>(answer).value)).sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1)
  )
  for (const speaker of speakers) t.equal(await value(speaker), '200')
})

t.test('an amount may be any safe integer, as long as the sum is one', async t => {
  for (const where of ['in memory', 'on disk']) {
    const app = await gateway(t, { http: false, ...await dataIn(t, where) })
    const speaker = new Speaker(app)
    const add = async (amount: unknown) => await speaker.tool('increment_counter', { amount })
    t.equal(await value(speaker), '0', 'nothing was counted yet')
    for (const [amount, sum] of [
      [5, 5],
      [-7, -2],
      [0, -2],
      [-0, -2],
      [2, 0],
      [1e3, 1000],
      [-1000, 0],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      [0, Number.MAX_SAFE_INTEGER]
    ] as const) {
      t.match(dataOf(await add(amount)), { value: sum }, `${amount}`)
      t.equal(await value(speaker), String(sum))
    }
    t.match(await add(1), {
      result: { isError: true, content: [{ text: /9007199254740991 and 1 have no sum that can be counted exactly/ }] }
    })
    t.match(await new Speaker(app, { version: '2025-03-26' }).tool('increment_counter'), {
      error: { code: -32602, message: /no sum that can be counted exactly/ }
    })
    t.match(dataOf(await add(Number.MIN_SAFE_INTEGER)), { value: 0 })
    t.match(dataOf(await add(Number.MIN_SAFE_INTEGER)), { value: Number.MIN_SAFE_INTEGER })
    t.match(await add(-1), { result: { isError: true } })
    t.equal(await value(speaker), String(Number.MIN_SAFE_INTEGER))
  }
})

const REFUSED: Array<[args: Json, expected: RegExp]> = [
  [{ amount: Number.MAX_SAFE_INTEGER + 1 }, /amount must be <= 9007199254740991/],
  [{ amount: Number.MIN_SAFE_INTEGER - 1 }, /amount must be >= -9007199254740991/],
  [{ amount: 1e300 }, /amount/],
  [{ amount: 0.5 }, /amount must be integer/],
  [{ amount: '1' }, /amount must be integer/],
  [{ amount: null }, /amount must be integer/],
  [{ amount: true }, /amount must be integer/],
  [{ amount: [1] }, /amount must be integer/],
  [{ by: 1 }, /"by"/]
]

t.test('what cannot be added is refused in words, and nothing is', async t => {
  const app = await gateway(t, { http: false })
  for (const [args, expected] of REFUSED) {
    t.match(
      await new Speaker(app).tool('increment_counter', args),
      { result: { isError: true, content: [{ text: expected }] } },
      JSON.stringify(args)
    )
    t.match(
      await new Speaker(app, { version: '2024-11-05' }).tool('increment_counter', args),
      { error: { code: -32602, message: expected } },
      JSON.stringify(args)
    )
  }
  t.equal(await value(new Speaker(app)), '0')
})

t.test('the counter is text in every revision', async t => {
  const app = await gateway(t, { http: false })
  for (const [index, version] of ERAS.entries()) {
    const speaker = new Speaker(app, { version })
    t.equal(textOf(await speaker.tool('increment_counter')), `Counter: ${index + 1}`)
    t.match(await speaker.request('resources/read', { uri: COUNTER }), {
      result: { contents: [{ uri: COUNTER, mimeType: 'text/plain', text: `${index + 1}` }] }
    })
  }
})

t.test('a subscriber is notified of every change', async t => {
  for (const where of ['in memory', 'on disk']) {
    const served = await listening(t, await dataIn(t, where))
    const call = await through(t, '/message', served)
    for (const [version, transport] of LISTENERS) {
      t.test(`${where}, ${version}, ${transport}`, async t => {
        const listening = await listener(t, version, transport, served, COUNTER)
        for (let round = 0; round < 3; round++) {
          await call('increment_counter', { amount: round - 1 })
          t.match(await nextNotification(listening, UPDATED), { uri: COUNTER })
        }
        await call('add_note', { content: 'a' })
        t.ok(await nextNotification(listening, LIST_CHANGED), 'and of notes that come')
      })
    }
  }
})

t.test('a refused increment is no change', async t => {
  const speaker = new Speaker(await gateway(t, { http: false }))
  await speaker.subscribe(COUNTER)
  await speaker.tool('increment_counter', { amount: 'x' })
  t.match(await speaker.tool('increment_counter', { amount: Number.MAX_SAFE_INTEGER }), { result: { isError: false } })
  await speaker.next(UPDATED)
  t.match(await speaker.tool('increment_counter'), { result: { isError: true } })
  t.strictSame(speaker.notifications, [])
})

t.test('a client that did not subscribe, or unsubscribed, is not notified', async t => {
  const app = await gateway(t, { http: false })
  const [before, after, never] = [new Speaker(app), new Speaker(app, { version: '2026-07-28' }), new Speaker(app)]
  await before.subscribe(COUNTER)
  const id = await after.listen({ resourceSubscriptions: [COUNTER] })
  await never.tool('increment_counter')
  await Promise.all([before, after].map(async speaker => await speaker.next(UPDATED)))
  await before.request('resources/unsubscribe', { uri: COUNTER })
  after.peer.inbound.get(id)?.cancel(new Error('enough'))
  await never.tool('increment_counter')
  t.strictSame([before, after, never].map(({ notifications }) => notifications), [[], [], []])
})

t.test('changes by another gateway on the same data reach clients within two seconds', async t => {
  const data = await folder(t, {})
  const here = await listening(t, { data })
  const there = new Speaker(await gateway(t, { data, http: false }))
  const transports = [
    ['2024-11-05', 'HTTP+SSE'],
    ['2025-06-18', 'HTTP stream'],
    ['2025-11-25', 'WebSocket'],
    ['2026-07-28', 'HTTP stream'],
    ['2026-07-28', 'in-process']
  ] as const
  const listeners = await Promise.all(
    transports.map(async ([version, transport]) => await listener(t, version, transport, here, COUNTER))
  )
  const all = async (method: string) =>
    await inTime(Promise.all(listeners.map(async listening => await nextNotification(listening, method))), method)
  let count = 0
  const took = await bestTime(2_000, async () => await timeOf(async () => {
    count++
    const [counted] = await Promise.all([all(UPDATED), there.tool('increment_counter')])
    t.match(counted, transports.map(() => ({ uri: COUNTER })))
  }))
  t.ok(took < 2_000, `${took} ms`)
  await Promise.all([all(LIST_CHANGED), there.tool('add_note', { content: 'from there' })])
  await Promise.all([all(LIST_CHANGED), there.tool('delete_note', { id: '1', confirm: true })])
  t.equal(await value(new Speaker(here.app)), String(count))
})
