import t from 'tap'
import { resource, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { Speaker } from '../support/speaker.js'
import { until } from '../support/wait.js'
import { expectUnharmed } from '../support/server.js'
import { ears } from './ears.js'
import guarded from './guarded.js'
import { as, hosted } from './host.js'

const PUBLIC = 'test://text'
const FENCE = `resources/updated ${PUBLIC}`

for (const [transport, open] of Object.entries(ears)) {
  t.test(`${transport}: a caller is not notified of the notes of another`, async t => {
    const server = await hosted(t)
    const uris = [1, 2, 3].map(id => `note:///${id}`)
    const [ada, bob, anonymous] = [
      await open(as(server, 'ada'), [...uris, PUBLIC]),
      await open(as(server, 'bob'), [...uris, PUBLIC]),
      await open(server, [...uris, PUBLIC])
    ]
    const everyone = [ada, bob, anonymous]
    const { mcp: { notes, resources } } = server.app
    for (const content of ['one', 'two', 'three']) await notes.add('ada', content, [])
    await notes.delete('ada', '2')
    await until(
      () => ada.received().filter(words => words === 'resources/updated note:///2').length === 2,
      'the last of the changes'
    )
    await until(() => ada.received().includes('resources/list_changed'), 'the change of the list')
    resources.updated(PUBLIC)
    await until(() => everyone.every(ear => ear.received().includes(FENCE)), 'what everybody may hear of')
    for (const ear of [bob, anonymous]) {
      t.strictSame(
        ear.received().filter(words => !words.startsWith('subscriptions/acknowledged')),
        [FENCE]
      )
    }
    for (const ear of everyone) await ear.close()
    await expectUnharmed(t, server)
  })

  t.test(`${transport}: a caller is not notified of what it may not read`, async t => {
    const server = await hosted(t, { plugins: [guarded] })
    const hidden = ['guard://special', 'guard://special/1', 'guard://nothing', 'note:///1']
    const uris = [...hidden, 'guard://open', 'guard://open/1', PUBLIC]
    const ear = await open(as(server, 'bob', ['mcp']), uris)
    for (const uri of uris) server.app.mcp.resources.updated(uri)
    await until(() => ear.received().includes(FENCE), 'the last of the changes')
    t.notMatch(ear.received().join(), /special|nothing|note:/)
    t.strictSame(
      ear.received().filter(words => words.startsWith('resources/updated')),
      ['guard://open', 'guard://open/1', PUBLIC].map(uri => `resources/updated ${uri}`)
    )
    await ear.close()
    await expectUnharmed(t, server)
  })
}

t.test('rules with arguments, and those that ask, decide about subscriptions and about each notification', async t => {
  const [inside, outside, fence] = ['file:///srv/public/a', 'file:///srv/private/a', 'fence://thing'] as const
  const notInside = { uri: { not: { under: 'file:///srv/public' } } }
  const rules: Array<Options['rules'][number]> = [
    { deny: ['file:*'], where: notInside },
    { ask: ['file:*'], where: notInside, by: 'operator' },
    { ask: ['file:///srv/private/*'] }
  ]
  for (const rule of rules) {
    for (const isLate of [false, true]) {
      const read = (): string => 'x'
      const plugin: NonNullable<Options['plugins']>[number] = async ({ mcp: { resources } }) => {
        resources.add(resource({ uri: 'file:///srv/{+path}', name: 'files', list: () => [], read, watch: () => () => {} }))
        resources.add(resource({ uri: fence, name: 'fence', read, watch: () => () => {} }))
      }
      const app = await gateway(t, { plugins: [plugin], rules: isLate ? [] : [rule] })
      const old = new Speaker(app, { principal: 'ada' })
      for (const uri of [inside, outside, fence]) await old.request('resources/subscribe', { uri })
      const ada = new Speaker(app, { version: '2026-07-28', principal: 'ada' })
      ada.send('subscriptions/listen', { notifications: { resourceSubscriptions: [inside, outside, fence] } })
      const { notifications } = await ada.next('notifications/subscriptions/acknowledged')
      t.strictSame(notifications, { resourceSubscriptions: [inside, ...(isLate ? [outside] : []), fence] })
      app.mcp.rules.replace({ rules: [rule], rulesDefault: 'allow' })
      for (const uri of [outside, inside, fence]) app.mcp.resources.updated(uri)
      const heard = ({ notifications }: Speaker): unknown[] =>
        notifications.flatMap(({ method, params: { uri } }) => method === 'notifications/resources/updated' ? [uri] : [])
      for (const client of [old, ada]) {
        await client.until(() => heard(client).includes(fence))
        t.strictSame(heard(client), [inside, fence], JSON.stringify(rule))
      }
    }
  }
})
