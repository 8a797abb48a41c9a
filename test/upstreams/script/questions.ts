import type { Test } from 'tap'
import { textOf, type Json } from '../../support/specification/message.js'
import { call, canBeAsked, haveBoth, named, type Chapter, type Passage } from './passage.js'

const FORM = { action: 'accept', content: { name: 'Ada' } }
const CONSENT = { action: 'accept' }
const SAMPLE = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'test' }
const ROOTS = { roots: [{ uri: 'file:///home', name: 'home' }] }

/** How the clients of these tests answer, by method. */
export const answers = {
  'elicitation/create': ({ mode }: Json) => mode === 'url' ? CONSENT : FORM,
  'sampling/createMessage': () => SAMPLE,
  'roots/list': () => ROOTS
}

export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** Questions of the server in the middle of a relayed call, in each cell's own way. */
export const questions: Record<string, Chapter> = {
  'a form': async (t, passage) => {
    if (!canBeAsked(passage) || !haveBoth(passage, 'elicitation')) return
    await asks(
      t,
      passage,
      'ask_form',
      [FORM],
      [
        {
          method: 'elicitation/create',
          params: { message: 'What is your name?', requestedSchema: { required: ['name'] } }
        }
      ]
    )
  },

  'a form on the stream that belongs to no request': async (t, passage) => {
    if (
      passage.server.revision.modern ||
      passage.way !== 'HTTP' ||
      !canBeAsked(passage) ||
      !haveBoth(passage, 'elicitation')
    ) { return }
    await asks(t, passage, 'ask_form', [FORM], [{ method: 'elicitation/create' }], { arguments: { elsewhere: true } })
  },

  'a URL': async (t, passage) => {
    if (!canBeAsked(passage) || !haveBoth(passage, 'icons')) return
    await asks(
      t,
      passage,
      'ask_url',
      [CONSENT],
      [{ method: 'elicitation/create', params: { mode: 'url', url: 'https://login.example/?a=1&b=é' } }]
    )
  },

  'a model': async (t, passage) => {
    if (!canBeAsked(passage)) return
    await asks(t, passage, 'ask_model', [SAMPLE], [{ method: 'sampling/createMessage', params: { maxTokens: 10 } }])
  },

  'folders, which a stateful server is not given unless they are configured': async (t, passage) => {
    if (!canBeAsked(passage)) return
    if (passage.server.revision.modern) return await asks(t, passage, 'ask_roots', [ROOTS], [{ method: 'roots/list' }])
    const asked = passage.client.asked.length
    t.match(await call(passage, 'ask_roots'), { result: { isError: true } })
    t.equal(passage.client.asked.length, asked)
  },

  'two in a row': async (t, passage) => {
    if (!canBeAsked(passage) || !haveBoth(passage, 'elicitation')) return
    await asks(
      t,
      passage,
      'ask_twice',
      [FORM, SAMPLE],
      [{ method: 'elicitation/create' }, { method: 'sampling/createMessage' }]
    )
  },

  'two at once': async (t, passage) => {
    if (!canBeAsked(passage) || !haveBoth(passage, 'elicitation')) return
    await asks(t, passage, 'ask_both', [FORM, SAMPLE])
    t.strictSame(
      passage.client.asked
        .slice(-2)
        .map(({ method }) => method)
        .sort(),
      ['elicitation/create', 'sampling/createMessage']
    )
  },

  'one after progress': async (t, passage) => {
    if (!canBeAsked(passage) || !haveBoth(passage, 'elicitation')) return
    passage.client.notifications.empty()
    await asks(t, passage, 'ask_late', [FORM], [{ method: 'elicitation/create' }], { _meta: { progressToken: 7 } })
    if (passage.client.transport.streams) {
      t.match(await passage.client.notified('notifications/progress'), { progressToken: 7, progress: 1 })
    }
  },

  'the state of the server comes back to the byte': async (t, passage) => {
    if (!passage.server.revision.modern || !canBeAsked(passage) || !haveBoth(passage, 'elicitation')) return
    for (const state of ['none', 'empty', 'long', 'odd']) {
      t.strictSame(JSON.parse(textOf(await call(passage, 'ask_with_state', { state }))), [FORM], state)
    }
  },

  'a client that cannot answer is not asked, and the server is not left waiting': async (t, passage) => {
    const mute = await passage.connect(t, {})
    for (const name of passage.server.revision.elicitation ? ['ask_form', 'ask_model'] : ['ask_model']) {
      const { error, result } = await mute.call(named(passage, name))
      t.ok(error !== undefined || result?.isError === true, name)
      if (mute.revision.modern && passage.server.revision.modern) t.equal(error?.code, -32021, name)
    }
    t.strictSame(mute.asked, [])
  }
}

async function asks (
  t: Test,
  passage: Passage,
  tool: string,
  expected: object[],
  asked: object[] = [],
  more: Json = {}
): Promise<void> {
  const { client, server } = passage
  const before = { asked: client.asked.length, runs: server.runs.get(tool) ?? 0 }
  const reply = await call(passage, tool, {}, more)
  const text = textOf(reply)
  t.strictSame(text.startsWith('[') ? JSON.parse(text) : reply, expected)
  if (asked.length > 0) t.match(client.asked.slice(before.asked), asked)
  t.equal(client.asked.length - before.asked, expected.length, 'nothing was asked twice')
  const rounds = server.revision.modern ? (tool === 'ask_twice' ? 3 : 2) : 1
  t.equal((server.runs.get(tool) ?? 0) - before.runs, rounds, 'the server was called as often as its era demands')
}
