import type { Test } from 'tap'
import { inTime } from '../support/wait.js'
import { textOf } from '../support/specification/message.js'
import { unique } from './cell.js'
import type { Place } from './connection.js'
import { gather } from './crowd.js'

const IDS = [1, '1', 0, '', 2 ** 53 - 1, 'constructor'] as const

/**
 * Lets clients of every kind use the same ids at the same time, at a gateway with the shared fixture and that of the
 * matrix.
 */
export async function useSameIds (t: Test, place: Place): Promise<void> {
  const { members, listeners, faults } = await gather(t, place, 3)

  await t.test('answers', async t => {
    const [room, size] = [unique('room'), members.length * IDS.length]
    const calls = members.flatMap(({ canary, client }) => IDS.map(id => {
      const own = `${canary} ${typeof id} ${id}`
      return { own, ...client.start('tools/call', { name: 'meet', arguments: { room, size, canary: own } }, { id }) }
    }))
    const replies = await inTime(Promise.all(calls.map(async ({ reply }) => await reply)), 'the last answer')
    t.strictSame(replies.map(({ id }) => id), calls.map(({ id }) => id))
    t.strictSame(replies.map(textOf), calls.map(({ own }) => own))
  })

  await t.test('progress', async t => {
    await Promise.all(listeners.map(async ({ client }, index) => {
      const total = 1 + index % 7
      await client.request(
        'tools/call',
        { name: 'slow', arguments: { steps: total, delay: 1 }, _meta: { progressToken: 1 } },
        { id: 1 }
      )
      const progress = client.notifications
        .empty()
        .map(({ method, params }) => [params?.progress ?? method, params?.total])
      t.strictSame(progress, Array.from({ length: total }, (_, step) => [step + 1, total]))
    }))
  })

  await t.test('questions', async t => {
    const able = members.filter(({ client }) => client.transport.streams || client.revision.modern)
    const replies = await Promise.all(
      able.map(
        async ({ client }) => await client.request('tools/call', { name: 'ask_roots', arguments: {} }, { id: '' })
      )
    )
    t.strictSame(replies.map(textOf), able.map(({ canary }) => canary))
  })

  await t.test('cancellations', async t => {
    const keys = new Map(listeners.map(({ client }) => [client, unique('hang')]))
    const calls = listeners.map(({ client }) => ({
      client,
      ...client.start('tools/call', { name: 'hang', arguments: { key: keys.get(client) } }, { id: 'same' })
    }))
    await Promise.all(
      calls.map(async ({ client }) => await client.call('wait_for', { moment: `${keys.get(client)} started` }))
    )
    const [first, ...others] = calls
    first?.cancel()
    await first?.client.call('wait_for', { moment: `${keys.get(first.client)} aborted` })
    const aborted = await Promise.all(
      others.map(async ({ client }) => textOf(await client.call('aborted', { key: keys.get(client) })))
    )
    t.ok(aborted.every(answer => answer === 'no'), 'only the one that was cancelled')
    for (const { cancel } of others) cancel()
    await Promise.all(
      others.map(async ({ client }) => await client.call('wait_for', { moment: `${keys.get(client)} aborted` }))
    )
  })

  t.strictSame(faults, [], 'every message was in order')
}
