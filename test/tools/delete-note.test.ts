import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { openSession } from '../support/http-session.js'
import { ASKING, ERAS, Speaker, textOf, type Answer, type Speaks } from '../support/speaker.js'

const ACCEPT = { action: 'accept', content: { confirm: true } }

/** A note, and a client that answers so when it is asked about it. */
async function asked (
  app: FastifyInstance,
  { answer = ACCEPT, content = 'Water the plants', ...speaks }: Speaks & { answer?: unknown, content?: string } = {}
) {
  const { id } = await app.mcp.notes.add(undefined, content, [])
  const speaker = new Speaker(app, {
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => answer },
    ...speaks
  })
  return {
    id,
    speaker,
    remove: async (args: Json = {}) => await speaker.tool('delete_note', { id, ...args }),
    kept: async () => (await app.mcp.notes.get(undefined, id)) !== undefined
  }
}

const outcome = (id: string, deleted: boolean) => ({
  result: {
    content: [{ text: deleted ? `Note ${id} deleted` : `Note ${id} was kept` }],
    structuredContent: { id, deleted }
  }
})

const ANSWERS: Array<[what: string, answer: unknown, deletes: boolean]> = [
  ['yes', ACCEPT, true],
  ['no', { action: 'accept', content: { confirm: false } }, false],
  ['declined', { action: 'decline' }, false],
  ['cancelled', { action: 'cancel' }, false],
  ['declined, with a yes inside', { action: 'decline', content: { confirm: true } }, false]
]

for (const version of ASKING) {
  t.test(`${version}: the user decides, whatever the arguments are`, async t => {
    const app = await gateway(t, { http: false })
    for (const args of [{}, { confirm: true }, { confirm: false }]) {
      for (const [what, answer, deletes] of ANSWERS) {
        const { id, speaker, remove, kept } = await asked(app, { version, answer })
        t.match(await remove(args), outcome(id, deletes), `${JSON.stringify(args)}, ${what}`)
        t.equal(await kept(), !deletes)
        t.equal(speaker.asked.length, 1, 'asked once')
      }
    }
  })

  t.test(`${version}: the user sees which note it is, and is not asked about one that is not there`, async t => {
    const { speaker, remove } = await asked(await gateway(t, { http: false }), { version })
    t.match(await remove({ id: '2' }), {
      result: { isError: true, content: [{ text: 'There is no note "2"; get_notes lists them' }] }
    })
    t.strictSame(speaker.asked, [])
    await remove()
    t.match(speaker.asked, [
      {
        method: 'elicitation/create',
        params: {
          message: 'Delete note 1? "Water the plants"',
          requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
        }
      }
    ])
  })

  t.test(`${version}: an answer that does not fit deletes nothing, and is refused with a reason`, async t => {
    const app = await gateway(t, { http: false })
    for (const answer of [
      { action: 'accept' },
      { action: 'accept', content: { confirm: 'yes' } },
      { action: 'accept', content: {} },
      { action: 'perhaps' },
      {}
    ]) {
      const { remove, kept } = await asked(app, { version, answer })
      const { result, error } = await remove({ confirm: true })
      t.match(
        error?.message ?? textOf({ result } as Answer),
        /the answer to elicitation\/create/,
        JSON.stringify(answer)
      )
      t.ok(await kept())
    }
  })
}

t.test('a client that cannot be asked has to confirm in the arguments', async t => {
  const app = await gateway(t, { http: false })
  const CLIENTS: Array<[version: string, capabilities: Json]> = [
    ...ERAS.map((version): [string, Json] => [version, {}]),
    ['2024-11-05', { elicitation: {} }],
    ['2025-03-26', { elicitation: {} }],
    ['2025-11-25', { elicitation: { url: {} } }],
    ['2026-07-28', { elicitation: { url: {} } }]
  ]
  for (const [version, capabilities] of CLIENTS) {
    const { id, speaker, remove, kept } = await asked(app, { version, capabilities })
    for (const args of [{}, { confirm: false }]) {
      t.match(
        await remove(args),
        {
          result: {
            isError: true,
            content: [
              {
                text: `This client cannot ask the user: call delete_note again with "confirm": true once the user has agreed to delete note ${id}`
              }
            ]
          }
        },
        version
      )
    }
    t.ok(await kept())
    t.equal(textOf(await remove({ confirm: true })), `Note ${id} deleted`)
    t.notOk(await kept())
    t.strictSame(speaker.asked, [])
  }
})

t.test('over /message and without a stream the user cannot be asked; in a stream it is', async t => {
  const { app, url } = await listening(t, { data: await folder(t, {}) })
  for (const content of ['a', 'b']) await new Speaker(app).tool('add_note', { content })
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'delete_note', arguments: { id: '1' } }
  }
  for (const headers of [{}, { 'mcp-protocol-version': '2025-11-25' }]) {
    const reply = await fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message)
    })
    t.match(await reply.json(), { result: { isError: true, content: [{ text: /"confirm": true/ }] } })
  }
  const session = await openSession(url, '2025-11-25', { elicitation: {} })
  const stream = await session.stream({
    id: 1,
    method: 'tools/call',
    params: { name: 'delete_note', arguments: { id: '2', confirm: true } }
  })
  const question = await stream.message()
  t.match(question, { method: 'elicitation/create', params: { message: 'Delete note 2? "b"' } })
  t.equal(
    (await app.mcp.notes.newest(undefined, [], 10)).notes.length,
    2,
    'nothing happens before the user has answered'
  )
  await session.post({ id: question.id, result: ACCEPT })
  t.match(await stream.message(), { id: 1, result: { structuredContent: { deleted: true } } })
  t.match((await app.mcp.notes.newest(undefined, [], 10)).notes, [{ id: '1' }])
  t.equal((await app.mcp.notes.newest(undefined, [], 10)).notes.length, 1)
})

t.test('a long note is shown on one line, cut between characters', async t => {
  const app = await gateway(t, { http: false })
  for (const [content, excerpt] of [
    ['🦊'.repeat(81), `"${'🦊'.repeat(80)}…"`],
    ['🦊'.repeat(80), `"${'🦊'.repeat(80)}"`],
    ['a\n\n\tb', '"a b"']
  ] as const) {
    const { id, speaker, remove } = await asked(app, { content })
    await remove()
    t.equal(speaker.asked[0]?.params['message'], `Delete note ${id}? ${excerpt}`)
  }
})

t.test('2026-07-28: an answer for one note is none for another', async t => {
  const app = await gateway(t, { http: false })
  const { id, speaker, kept } = await asked(app, { version: '2026-07-28' })
  const another = await asked(app)
  const {
    result: { requestState }
  } = await speaker.answerTo(speaker.send('tools/call', { name: 'delete_note', arguments: { id: another.id } }))
  const inputResponses = { confirm: ACCEPT }
  t.match(
    await speaker.request('tools/call', { name: 'delete_note', arguments: { id }, requestState, inputResponses }),
    { error: { code: -32602, message: /requestState was not issued for this request/ } }
  )
  t.ok(await kept() && await another.kept())
})

t.test('a client that goes while the user thinks deletes nothing', async t => {
  const { speaker, id, kept } = await asked(await gateway(t, { http: false }), { answers: {} })
  speaker.send('tools/call', { name: 'delete_note', arguments: { id } })
  await speaker.until(() => speaker.asked.length === 1)
  speaker.close()
  await new Promise(resolve => setImmediate(resolve))
  t.ok(await kept())
})

t.test('a note deleted by another call while the user was asked is not reported as kept', async t => {
  const app = await gateway(t, { http: false })
  for (const version of ASKING) {
    const { remove } = await asked(app, {
      version,
      answers: {
        'elicitation/create': async ({ message }) => {
          await app.mcp.notes.delete(undefined, /\d+/.exec(String(message))?.[0] ?? '')
          return ACCEPT
        }
      }
    })
    const text = textOf(await remove())
    t.match(text, /\d/, version)
    t.notMatch(text, /was kept/, version)
  }
})
