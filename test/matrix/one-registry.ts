import type { Test } from 'tap'
import { inTime } from '../support/wait.js'
import { meta, textOf } from '../support/specification/message.js'
import { unique } from './cell.js'
import type { Place } from './connection.js'
import { gather, type Crowd, type Member } from './crowd.js'
import { listen } from './script/changes.js'
import { listAll } from './script/pagination.js'

const CHANGED = 'notifications/tools/list_changed'

/**
 * Adds tools over each transport and removes them over others, at a gateway with the shared fixture and that of the
 * matrix; `close` closes it.
 */
export async function changeTools (t: Test, place: Place, close: () => Promise<unknown>): Promise<void> {
  const crowd = await gather(t, place)
  const listeners = await Promise.all(
    crowd.listeners.map(async ({ client }) => await listen(client, { toolsListChanged: true }))
  )

  const names = new Set(crowd.members.map(({ client }) => client.transport.name))
  for (const [index, name] of [...names].entries()) {
    const adder = crowd.members.filter(({ client }) => client.transport.name === name).at(index) as Member
    const remover = crowd.members.filter(({ client }) => client.transport.name !== name).at(index) as Member
    await t.test(`added over ${name}`, async t => await comeAndGo(t, crowd, adder, remover))
  }

  await t.test('listeners are answered when the gateway closes', async t => {
    await close()
    for (const listener of listeners.filter(listener => listener !== undefined)) {
      const { result } = await inTime(listener.reply, 'the answer to a listener')
      t.match(result, { resultType: 'complete', _meta: { [meta.subscription]: listener.id } })
    }
  })
  t.strictSame(crowd.faults, [], 'every message was in order')
}

async function comeAndGo (t: Test, crowd: Crowd, adder: Member, remover: Member): Promise<void> {
  const name = unique('tool')
  await adder.client.call('add_tool', { name })
  await announced(crowd)
  for (const { client } of crowd.members) {
    const where = `${client.transport.name} in ${client.revision.version}`
    t.ok((await listAll(client, 'tools/list', 'tools')).some(tool => tool.name === name), `listed over ${where}`)
    t.equal(textOf(await client.call(name)), `I am ${name}`, `called over ${where}`)
  }
  await remover.client.call('remove_tool', { name })
  await announced(crowd)
  const replies = await Promise.all(crowd.members.map(async ({ client }) => await client.call(name)))
  t.ok(replies.every(({ error }) => error?.code === -32602), 'what is gone cannot be called')
}

async function announced ({ listeners }: Crowd): Promise<void> {
  await Promise.all(listeners.map(async ({ client }) => await client.notified(CHANGED)))
}
