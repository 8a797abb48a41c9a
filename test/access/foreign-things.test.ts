import t, { type Test } from 'tap'
import { modernMeta } from '../support/messages.js'
import { expectUnharmed, type Server } from '../support/server.js'
import { as, hosted } from './host.js'
import { speakers, type Answer, type Json, type Speaker } from './speakers.js'

const TEMPLATE = { type: 'ref/resource', uri: 'note:///{id}' }
const SECRET = 'secret of Ada'

/** Something of Ada's that Bob tries, beside the same thing that does not exist. */
interface Attempt { what: string, method: string, params: (id: string) => Json }

const tool = (name: string, args: (id: string) => Json = () => ({})): Attempt => ({
  what: name,
  method: 'tools/call',
  params: id => ({ name, arguments: args(id) })
})
const uri = (id: string) => ({ uri: `note:///${id}` })

const ON_NOTES: Attempt[] = [
  tool('get_notes'),
  tool('delete_note', id => ({ id, confirm: true })),
  { what: 'reading', method: 'resources/read', params: uri },
  {
    what: 'completion',
    method: 'completion/complete',
    params: id => ({ ref: TEMPLATE, argument: { name: 'id', value: id } })
  }
]
const ON_LEGACY_NOTES: Attempt[] = ['resources/subscribe', 'resources/unsubscribe'].map(method => ({
  what: method,
  method,
  params: uri
}))
const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']

for (const [name, open] of Object.entries(speakers)) {
  t.test(`${name}: what belongs to another caller is answered like what does not exist`, async t => {
    const server = await hosted(t, { pageSize: 1 })
    const [ada, bob] = [await open(as(server, 'ada')), await open(as(server, 'bob'))]
    for (const content of [SECRET, 'another of hers', 'third of hers']) {
      t.match(await ada.ask('tools/call', { name: 'add_note', arguments: { content } }), {
        result: { content: [{ text: /added/ }] }
      })
    }

    await t.test('notes', async t => {
      for (const { what, method, params } of [...ON_NOTES, ...(ada.era === 'legacy' ? ON_LEGACY_NOTES : [])]) {
        const theirs = await bob.ask(method, params('3'))
        t.strictSame(
          words(theirs, '3'),
          words(await bob.ask(method, params('77')), '77'),
          `${what}: the same as of nobody's`
        )
        t.notMatch(JSON.stringify(theirs.result ?? {}), /of Ada|of hers|note:\/\/\/[123]/, `${what}: nothing of Ada's`)
      }
      t.match(JSON.stringify(await ada.ask('resources/read', uri('3'))), /third of hers/, 'Ada still has it')
      t.strictSame([(await notesIn(bob)).length, (await notesIn(ada)).length], [0, 3], 'on no page of the list')
    })

    await t.test('cursors', async t => {
      for (const method of LISTS) {
        const cursor = (await ada.ask(method)).result?.nextCursor
        t.type(cursor, 'string', `${method} has pages`)
        t.strictSame(
          words(await bob.ask(method, { cursor })),
          words(await bob.ask(method, { cursor: 'banana' })),
          method
        )
        t.ok((await ada.ask(method, { cursor })).result, 'Ada may go on')
      }
    })

    if (ada.era === 'modern') await t.test('the state of a request', async t => { await states(t, ada, bob) })
    for (const speaker of [ada, bob]) await speaker.close()
    await expectUnharmed(t, server)
  })

  t.test(`${name}: a caller cannot cancel the call of another`, async t => {
    const server = await hosted(t)
    const [ada, bob] = [await open(as(server, 'ada')), await open(as(server, 'bob'))]
    const hanging = ada.ask('tools/call', { name: 'slow', arguments: { steps: 1, delay: 100 } })
    for (const requestId of [7, '7', 's1', 0, 1]) await bob.notify('notifications/cancelled', { requestId })
    t.match(await bob.ask(bob.era === 'modern' ? 'server/discover' : 'ping'), { result: {} })
    t.match(await hanging, { result: { content: [{ text: '1 steps' }] } })
    for (const speaker of [ada, bob]) await speaker.close()
    await expectUnharmed(t, server)
  })
}

t.test('notes and sessions of one caller do not count against another', async t => {
  const server = await hosted(t, { limits: { maxNotes: 2, maxSessionsPerPrincipal: 2 } })
  const add = async (speaker: Speaker) =>
    JSON.stringify((await speaker.ask('tools/call', { name: 'add_note', arguments: { content: 'x' } })).result)
  const [ada, bob] = [await message(as(server, 'ada')), await message(as(server, 'bob'))]
  for (let times = 0; times < 2; times++) t.match(await add(ada), /added/)
  t.match(await add(ada), /as many as there may be/)
  t.match(await add(bob), /added/)

  const open = speakers.session as (server: Server) => Promise<Speaker>
  const sessions = [
    await open(as(server, 'ada')),
    await open(as(server, 'ada')),
    await open(as(server, 'bob')),
    await open(server),
    await open(server),
    await open(server)
  ]
  await t.rejects(open(as(server, 'ada')), /429.*maxSessionsPerPrincipal/)
  sessions.push(await open(as(server, 'bob')))
  await sessions[0]?.close()
  sessions.push(await open(as(server, 'ada')))
  for (const session of sessions.slice(1)) await session.close()
  await expectUnharmed(t, server)
})

const message = speakers.message as (server: Server) => Promise<Speaker>

async function states (t: Test, ada: Speaker, bob: Speaker): Promise<void> {
  const asked = { name: 'ask_name', arguments: {}, _meta: modernMeta(undefined, { elicitation: {} }) }
  const inputResponses = { user_name: { action: 'accept', content: { name: 'Eve' } } }
  const { result: { requestState } = {} } = await ada.ask('tools/call', asked)
  t.type(requestState, 'string')
  const forged = words(await bob.ask('tools/call', { ...asked, inputResponses, requestState: 'AAAA' }))
  t.strictSame(
    words(await bob.ask('tools/call', { ...asked, inputResponses, requestState })),
    forged,
    'D33: of no use to another'
  )
  t.match(await ada.ask('tools/call', { ...asked, inputResponses, requestState }), {
    result: { content: [{ text: 'Hello, Eve!' }] }
  })
}

/** The notes on all pages. */
async function notesIn (speaker: Speaker): Promise<string[]> {
  const found: string[] = []
  for (let cursor: unknown; ;) {
    const { result = {} } = await speaker.ask('resources/list', cursor === undefined ? {} : { cursor })
    found.push(
      ...(result.resources as Array<{ uri: string }>).map(({ uri }) => uri).filter(uri => uri.startsWith('note:'))
    )
    cursor = result.nextCursor
    if (cursor === undefined) return found
  }
}

/** The text of an answer, without the name of its subject. */
function words ({ status, result, error }: Answer, about = ''): unknown {
  const text = JSON.stringify({ status, result, error })
  return about === ''
    ? text
    : text
      .replaceAll(`note:///${about}`, 'note:///X')
      .replaceAll(`note \\"${about}\\"`, 'note X')
      .replaceAll(`note ${about}`, 'note X')
}
