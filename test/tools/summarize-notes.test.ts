import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import { openSession } from '../support/http-session.js'
import { dataOf, ERAS, Speaker, textOf, type Speaks } from '../support/speaker.js'

const answering = (content: unknown) => ({ role: 'assistant', model: 'small-1', content })
const SUMMARY = answering({ type: 'text', text: 'Plants need water.' })

const model = (app: FastifyInstance, answer: unknown = SUMMARY, speaks: Speaks = {}): Speaker =>
  new Speaker(app, { capabilities: { sampling: {} }, answers: { 'sampling/createMessage': () => answer }, ...speaks })

async function withNotes (t: Test, ...contents: string[]): Promise<FastifyInstance> {
  const app = await gateway(t, { http: false, data: await folder(t, {}) })
  for (const content of contents) await app.mcp.notes.add(undefined, content, [`tag ${content}`])
  return app
}

t.test('the model of the client summarizes the notes, in every revision', async t => {
  const app = await withNotes(t, 'one', 'two', 'three')
  for (const version of ERAS) {
    const speaker = model(app, SUMMARY, { version })
    const answer = await speaker.tool('summarize_notes')
    t.equal(textOf(answer), 'Plants need water.', version)
    if (version >= '2025-06-18') {
      t.strictSame(dataOf(answer), { summary: 'Plants need water.', model: 'small-1', notes: 3 }, version)
    }
    t.match(
      speaker.asked,
      [
        {
          method: 'sampling/createMessage',
          params: {
            systemPrompt: /summarize/,
            maxTokens: 500,
            messages: [
              {
                role: 'user',
                content: {
                  type: 'text',
                  text: 'Summarize these notes:\n\nNote 3:\nthree\n\nNote 2:\ntwo\n\nNote 1:\none'
                }
              }
            ]
          }
        }
      ],
      version
    )
    t.equal(speaker.asked.length, 1, version)
  }
})

t.test('tags and limit choose the notes, max_tokens bounds the summary', async t => {
  const app = await withNotes(t, 'one', 'two', 'three')
  const CHOICES: Array<[args: object, text: RegExp, maxTokens: number]> = [
    [{ tags: ['tag one', 'tag two'] }, /^[^]*two[^]*one$/, 500],
    [{ limit: 1, max_tokens: 7 }, /notes:\n\nNote 3:\nthree$/, 7],
    [{ tags: ['tag one'], limit: 100, max_tokens: 10_000 }, /notes:\n\nNote 1:\none$/, 10_000]
  ]
  for (const [args, text, maxTokens] of CHOICES) {
    const speaker = model(app)
    await speaker.tool('summarize_notes', { ...args })
    t.match(speaker.asked, [{ params: { maxTokens, messages: [{ content: { text } }] } }], JSON.stringify(args))
    t.notMatch(JSON.stringify(speaker.asked), args === CHOICES[0]?.[0] ? 'three' : 'two')
  }
  for (const [args, expected] of [
    [{ limit: 0 }, /limit must be >= 1/],
    [{ limit: 101 }, /limit must be <= 100/],
    [{ max_tokens: 0 }, /max_tokens must be >= 1/],
    [{ max_tokens: 10_001 }, /max_tokens must be <= 10000/],
    [{ maxTokens: 1 }, /"maxTokens"/]
  ] as const) {
    t.match(textOf(await model(app).tool('summarize_notes', { ...args })), expected)
  }
})

const ANSWERS: Array<[what: string, content: unknown, summary: string]> = [
  ['one block', { type: 'text', text: 'a' }, 'a'],
  [
    'several blocks',
    [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: 'b' }
    ],
    'a\nb'
  ],
  ['a list of one', [{ type: 'text', text: 'a' }], 'a']
]

t.test('a model may answer with', async t => {
  const app = await withNotes(t, 'one')
  for (const [what, content, summary] of ANSWERS) {
    for (const version of ['2025-11-25', '2026-07-28']) {
      t.match(
        dataOf(await model(app, answering(content), { version }).tool('summarize_notes')),
        { summary, notes: 1 },
        `${what}, ${version}`
      )
    }
  }
})

t.test('an answer of the model without text is reported as such', async t => {
  const app = await withNotes(t, 'one')
  for (const content of [
    [],
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    [{ type: 'tool_use', id: 't', name: 'x', input: {} }],
    {},
    { type: 'text', text: 7 }
  ]) {
    for (const version of ERAS) {
      t.match(
        await model(app, answering(content), { version }).tool('summarize_notes'),
        { result: { isError: true, content: [{ text: 'The model of the client answered without text' }] } },
        `${JSON.stringify(content)}, ${version}`
      )
    }
  }
})

t.test('an invalid answer of a model is refused with a reason', async t => {
  const app = await withNotes(t, 'one')
  for (const answer of [
    {},
    { role: 'assistant', content: { type: 'text', text: 'a' } },
    { role: 'assistant', model: 'm', content: 'a' },
    'a',
    null,
    7
  ]) {
    for (const version of ERAS) {
      const { result, error } = await model(app, answer, { version }).tool('summarize_notes')
      t.match(
        error?.message ?? (result.content as [{ text: string }])[0].text,
        /the answer to sampling\/createMessage/,
        `${JSON.stringify(answer)}, ${version}`
      )
    }
  }
})

t.test('without notes the model is not asked', async t => {
  const app = await withNotes(t)
  for (const version of ERAS) {
    const speaker = model(app, SUMMARY, { version })
    t.match(
      await speaker.tool('summarize_notes'),
      { result: { isError: true, content: [{ text: 'There are no notes to summarize' }] } },
      version
    )
    t.strictSame(speaker.asked, [])
  }
  await app.mcp.notes.add('ada', 'not yours', [])
  t.match(textOf(await model(app).tool('summarize_notes')), 'There are no notes to summarize')
  t.match(dataOf(await model(app, SUMMARY, { principal: 'ada' }).tool('summarize_notes')), { notes: 1 })
})

t.test('the error for a client without a model names the missing capability', async t => {
  const app = await withNotes(t, 'one')
  const WHY =
    /The client cannot be asked for sampling\/createMessage: it did not declare the capability \{"sampling":\{\}\}/
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    t.match(
      await model(app, SUMMARY, { version, capabilities: {} }).tool('summarize_notes'),
      { error: { code: -32603, message: WHY } },
      version
    )
  }
  t.match(await model(app, SUMMARY, { version: '2025-11-25', capabilities: {} }).tool('summarize_notes'), {
    result: { isError: true, content: [{ text: WHY }] }
  })
  t.match(await model(app, SUMMARY, { version: '2026-07-28', capabilities: {} }).tool('summarize_notes'), {
    error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } }
  })
})

t.test('the refusal of the client is passed on', async t => {
  const { app, url } = await listening(t)
  await app.mcp.notes.add(undefined, 'one', [])
  const session = await openSession(url, '2025-11-25', { sampling: {} })
  const stream = await session.stream({ id: 1, method: 'tools/call', params: { name: 'summarize_notes' } })
  const { id } = await stream.message()
  await session.post({ id, error: { code: -1, message: 'User rejected sampling request' } })
  t.match(await stream.message(), {
    id: 1,
    result: { isError: true, content: [{ text: /User rejected sampling request/ }] }
  })
  const reply = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'summarize_notes' } })
  })
  t.match(await reply.json(), {
    error: { code: -32603, message: /cannot be asked for sampling\/createMessage: this request has no stream/ }
  })
})

t.test('as many notes are counted as the model was shown, whatever is added meanwhile', async t => {
  const app = await withNotes(t, 'one')
  for (const version of ['2025-11-25', '2026-07-28']) {
    let shown = 0
    const speaker = new Speaker(app, {
      version,
      capabilities: { sampling: {} },
      answers: {
        'sampling/createMessage': async ({ messages }) => {
          shown = (JSON.stringify(messages).match(/Note \d+:/g) ?? []).length
          await app.mcp.notes.add(undefined, 'later', [])
          return SUMMARY
        }
      }
    })
    t.match(dataOf(await speaker.tool('summarize_notes')), { notes: shown }, version)
  }
})
