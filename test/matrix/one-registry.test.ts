import t, { type Test } from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import { unique } from './cell.js'
import { gather, type Crowd, type Member } from './crowd.js'
import fixture from './fixture.js'
import { inTime } from '../support/wait.js'
import { meta, textOf } from '../support/specification/message.js'
import { listen } from './script/changes.js'
import { listAll } from './script/pagination.js'
import { local } from './transports.js'

const CHANGED = 'notifications/tools/list_changed'

t.test('a tool added over one connection reaches clients of every transport and revision', async t => {
  t.setTimeout(60_000)
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 5 })
  const crowd = await gather(t, place)
  const listeners = await Promise.all(crowd.listeners.map(async ({ client }) => await listen(client, { toolsListChanged: true })))

  for (const [index, { name }] of local.entries()) {
    const adder = crowd.members.filter(({ client }) => client.transport.name === name).at(index) as Member
    const remover = crowd.members.filter(({ client }) => client.transport.name !== name).at(index) as Member
    await t.test(`added over ${name}`, async t => await comeAndGo(t, crowd, adder, remover))
  }

  await t.test('listeners are answered when the gateway closes', async t => {
    await place.app.close()
    for (const listener of listeners.filter(listener => listener !== undefined)) {
      const { result } = await inTime(listener.reply, 'the answer to a listener')
      t.match(result, { resultType: 'complete', _meta: { [meta.subscription]: listener.id } })
    }
  })
  t.strictSame(crowd.faults, [], 'every message was in order')
})

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
  t.ok(replies.every(({ error }) => error?.code === -32602), 'nobody can call what is gone')
}

async function announced ({ listeners }: Crowd): Promise<void> {
  await Promise.all(listeners.map(async ({ client }) => await client.notified(CHANGED)))
}
