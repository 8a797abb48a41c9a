import t from 'tap'
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
