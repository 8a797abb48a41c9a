import type { Test } from 'tap'
import type { Cell, Chapter } from '../cell.js'
import type { Client } from '../client.js'
import { inTime } from '../../support/wait.js'
import { textOf, type Reply } from '../../support/specification/message.js'

/** Questions to the client in the middle of a call: written once by the author, asked in each revision's own way. */
export const questions: Record<string, Chapter> = {
  'asks the user': async (t, cell) => {
    const { client, revision } = cell
    const asked = client.asked.length
    const reply = await client.call('ask_name')
    if (!canAsk(cell) || !revision.elicitation) return refused(t, cell, reply)
    t.equal(textOf(reply), 'Hello, Ada!')
    t.match(client.asked.slice(asked), [
      {
        method: 'elicitation/create',
        params: { message: 'What is your name?', requestedSchema: { properties: { name: { type: 'string' } } } }
      }
    ])
    t.equal(client.asked.at(-1)?.params?.mode, revision.icons ? 'form' : undefined)
  },

  'takes no for an answer': async (t, cell) => {
    if (!canAsk(cell) || !cell.revision.elicitation || cell.transport.costly) return
    for (const action of ['decline', 'cancel']) {
      const shy = await cell.connect(t, { answers: { 'elicitation/create': () => ({ action }) } })
      t.equal(textOf(await shy.call('ask_name')), `You chose to ${action}.`)
    }
  },

  'does not take an answer that is no answer to the question': async (t, cell) => {
    if (!canAsk(cell) || !cell.revision.elicitation || cell.transport.costly) return
    const odd = await cell.connect(t, {
      answers: { 'elicitation/create': () => ({ action: 'accept', content: { name: 3 } }) }
    })
    t.equal((await odd.call('ask_name')).error?.code, -32602)
  },

  'asks the model of the client': async (t, cell) => {
    const reply = await cell.client.call('ask_model')
    if (!canAsk(cell)) return refused(t, cell, reply)
    t.equal(textOf(reply), 'Paris')
    t.match(cell.client.asked.at(-1), {
      method: 'sampling/createMessage',
      params: { maxTokens: 10, messages: [{ role: 'user' }] }
    })
  },

  'asks for the folders of the client': async (t, cell) => {
    const reply = await cell.client.call('ask_roots')
    if (!canAsk(cell)) return refused(t, cell, reply)
    t.equal(textOf(reply), 'file:///home\nfile:///work')
    t.equal(cell.client.asked.at(-1)?.method, 'roots/list')
  },

  'asks one question after another and does only once what may happen only once': async (t, cell) => {
    if (!canAsk(cell)) return
    const [first, second] = [await ticket(t, cell.client), await ticket(t, cell.client)]
    t.equal(second, first + 1)
    t.strictSame(cell.client.asked.slice(-2).map(({ method }) => method), ['roots/list', 'sampling/createMessage'])
    t.match(cell.client.asked.at(-1), { params: { messages: [{ content: { text: 'file:///home' } }] } })
  },

  'takes a question back when the call it belongs to is cancelled': async (t, { connect, revision, transport }) => {
    if (revision.modern || !transport.streams || transport.costly) return
    let asked = () => {}
    const question = new Promise<void>(resolve => { asked = resolve })
    const silent = await connect(t, { answers: { 'roots/list': () => { asked(); return undefined } } })
    const { id, cancel } = silent.start('tools/call', { name: 'ask_roots', arguments: {} })
    await inTime(question, 'the question')
    cancel()
    t.match(await silent.notified('notifications/cancelled'), { requestId: silent.asked[0]?.id })
    t.ok((await silent.request('ping')).result)
    t.notOk(silent.replies.some(reply => reply.id === id))
  },

  'takes answers with the state it gave or with none, but not with another': async (t, { client, revision }) => {
    if (!revision.modern) return
    const params = { name: 'ask_name', arguments: {} }
    const first = await inTime(client.start('tools/call', params).reply, 'the question')
    t.match(first.result, {
      resultType: 'input_required',
      requestState: String,
      inputRequests: { user_name: { method: 'elicitation/create' } }
    })
    const inputResponses = { user_name: { action: 'accept', content: { name: 'Alan' } } }
    const { requestState } = first.result ?? {}
    t.equal(textOf(await client.request('tools/call', { ...params, inputResponses, requestState })), 'Hello, Alan!')
    t.equal(textOf(await client.request('tools/call', { ...params, inputResponses })), 'Hello, Alan!')
    t.equal(
      (await client.request('tools/call', { ...params, inputResponses, requestState: `${String(requestState)}x` }))
        .error?.code,
      -32602
    )
    t.equal(
      (await client.request('tools/call', { name: 'ask_roots', inputResponses, requestState })).error?.code,
      -32602
    )
  },

  'does not ask a client that cannot answer': async (t, { connect, revision, transport }) => {
    if (transport.costly) return
    const mute = await connect(t, { capabilities: {}, answers: {} })
    for (const name of ['ask_name', 'ask_model', 'ask_roots']) {
      const { error, result, status } = await mute.call(name)
      if (revision.modern) t.match(error, { code: -32021, data: { requiredCapabilities: Object } }, name)
      else if (revision.errorsAsResults) t.equal(result?.isError, true, name)
      else t.ok(error, name)
      if (revision.modern && transport.http) t.equal(status, 400)
    }
    t.strictSame(mute.asked, [])
  },

  'shows an author beforehand what can be asked': async (t, cell) => {
    const methods = [
      ...(cell.revision.elicitation ? ['elicitation/create'] : []),
      'sampling/createMessage',
      'roots/list'
    ]
    t.equal(textOf(await cell.client.call('can_ask')), canAsk(cell) ? methods.join(' ') : '')
  }
}

/** A question travels as a message of its own, which needs a stream, or inside a result, which needs nothing. */
const canAsk = ({ revision, transport }: Cell): boolean => revision.modern || transport.streams

function refused (t: Test, { revision }: Cell, { result, error }: Reply): void {
  if (revision.errorsAsResults) t.equal(result?.isError, true)
  else t.equal(error?.code, -32603)
}

async function ticket (t: Test, client: Client): Promise<number> {
  const [, city, number] = /^(\w+) #(\d+)$/.exec(textOf(await client.call('ask_twice'))) ?? []
  t.equal(city, 'Paris')
  return Number(number)
}
