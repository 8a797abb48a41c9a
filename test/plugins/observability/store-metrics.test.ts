import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { at, callOf, messages, onSharedStores, pairOf } from '../../support/environment/nodes.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { gateway } from '../../support/gateway.js'
import { openSession } from '../../support/http-session.js'
import { scrape, sum } from '../../support/metrics.js'
import { until } from '../../support/wait.js'

const sent = async (app: FastifyInstance, kind: string, outcome: string): Promise<number> =>
  sum(await scrape(app), 'patchbay_node_messages_total', { kind, outcome })

onSharedStores(t, (t, share) => {
  t.test('messages to other nodes are counted where they are sent', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url, '2025-11-25', { elicitation: {} })
    const reply = await session.stream(callOf(1, 'ask_name'))
    const { id } = await reply.message()
    const [passedBefore, answeredBefore] = [
      await sent(two.app, 'request', 'delivered'),
      await sent(one.app, 'reply', 'delivered')
    ]
    await at(two, session).post({ id, result: { action: 'accept', content: { name: 'Ada' } } })
    t.match((await messages(reply)).at(-1), { result: { content: [{ text: /Ada/ }] } })
    await until(async () => await sent(two.app, 'request', 'delivered') > passedBefore)
    await until(async () => await sent(one.app, 'reply', 'delivered') > answeredBefore)
  })

  t.test('each message counts once, also one to a node that is not there', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const message = { kind: 'waits', numbers: [] } as const
    const { nodes } = one.app.mcp.store
    for (let count = 0; count < 3; count++) {
      t.equal(await nodes.send(String(two.app.mcp.store.nodes.self), message), true)
    }
    t.equal(await nodes.send('000000000000', message), false)
    t.strictSame(
      [
        await sent(one.app, 'waits', 'delivered'),
        await sent(one.app, 'waits', 'absent'),
        await sent(two.app, 'waits', 'delivered')
      ],
      [3, 1, 0]
    )
  })
})

t.test('a store that cannot be written is down, and up again when it can', async t => {
  const app = await gateway(t, { data: await dataFolder(t), maxData: 400_000 })
  const { values } = app.mcp.store
  const isUp = async () => (await scrape(app)).get('patchbay_store_up{kind="disk"}')
  const put = async (key: number): Promise<boolean> =>
    await values.put('space', String(key), 'x'.repeat(2_000)).then(
      () => true,
      () => false
    )
  t.equal(await isUp(), 1)
  let count = 0
  while (count < 1_000 && await put(count)) count++
  t.equal(await isUp(), 0, `after ${count} entries`)
  for (let key = 0; key < count; key++) await values.delete('space', String(key))
  t.equal(await put(0), true)
  t.equal(await isUp(), 1)
})
