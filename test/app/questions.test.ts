import t, { type Test } from 'tap'
import { createClient, tool } from '../../app.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { gateway } from '../support/gateway.js'
import { callTool, type Answer, type Json, type Round } from '../support/modern.js'

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const accept = (name: string) => ({ action: 'accept', content: { name } })
const nameOf = (answer: unknown): string => (answer as { content: { name: string } }).content.name
const question = (message: string) => ({ method: 'elicitation/create', params: { message, requestedSchema: FORM } })

/** A gateway with one tool, and a client of 2026-07-28 for it. */
async function asking (t: Test, run: (call: Call) => unknown) {
  const app = await gateway(t, {
    plugins: [
      async fastify => {
        fastify.mcp.tools.add(
          tool({
            name: 'it',
            description: 'd',
            input: { type: 'object' },
            run: async (_input, call) => (await run(call)) as object
          })
        )
      }
    ]
  })
  return {
    app,
    call: async (round: Round = {}, args: Json = {}): Promise<Answer> => await callTool(app, 'it', args, round)
  }
}

const keysOf = ({ result }: Answer): string[] => Object.keys(result?.inputRequests as Json | undefined ?? {})
const textOf = ({ result }: Answer): string =>
  (result?.content as Array<{ text: string }> | undefined)?.[0]?.text as string

t.test('several questions asked at once travel together, and come back by key', async t => {
  const { call } = await asking(t, async call => {
    const { a, b } = await call.ask({ a: question('A?'), b: question('B?') })
    return `${nameOf(a)} and ${nameOf(b)}`
  })
  const first = await call()
  t.match(first.result, {
    resultType: 'input_required',
    requestState: String,
    inputRequests: {
      a: { method: 'elicitation/create', params: { mode: 'form', message: 'A?' } },
      b: { params: { message: 'B?' } }
    }
  })
  const second = await call({
    requestState: first.result.requestState,
    inputResponses: { b: accept('Bob'), a: accept('Ada') }
  })
  t.equal(textOf(second), 'Ada and Bob')
})

t.test('two questions asked side by side travel together', async t => {
  const { call } = await asking(t, async call => {
    const [a, b] = await Promise.all([
      call.elicit('a', { message: 'A?', requestedSchema: FORM }),
      call.elicit('b', { message: 'B?', requestedSchema: FORM })
    ])
    return `${nameOf(a)} and ${nameOf(b)}`
  })
  const first = await call()
  t.strictSame(keysOf(first), ['a', 'b'])
  t.equal(
    textOf(
      await call({ inputResponses: { a: accept('Ada'), b: accept('Bob') }, requestState: first.result.requestState })
    ),
    'Ada and Bob'
  )
})

t.test('a question that was not answered is asked again, and the others are not', async t => {
  const { call } = await asking(t, async call => {
    const { a, b } = await call.ask({ a: question('A?'), b: question('B?') })
    return `${nameOf(a)} and ${nameOf(b)}`
  })
  const first = await call()
  const second = await call({
    requestState: first.result.requestState,
    inputResponses: { a: accept('Ada'), unknown: 7 }
  })
  t.strictSame(keysOf(second), ['b'])
  const third = await call({ requestState: second.result.requestState, inputResponses: { b: accept('Bob') } })
  t.equal(textOf(third), 'Ada and Bob')
})

t.test('questions that depend on each other take a round each', async t => {
  const { call } = await asking(t, async call => {
    const first = nameOf(await call.elicit('first', { message: 'First?', requestedSchema: FORM }))
    return nameOf(await call.elicit('second', { message: `After ${first}?`, requestedSchema: FORM }))
  })
  const one = await call()
  const two = await call({ requestState: one.result.requestState, inputResponses: { first: accept('Ada') } })
  t.match(two.result.inputRequests, { second: { params: { message: 'After Ada?' } } })
  t.not(two.result.requestState, one.result.requestState)
  t.equal(
    textOf(await call({ requestState: two.result.requestState, inputResponses: { second: accept('Bob') } })),
    'Bob'
  )
})

t.test('an answer that comes without a state, or before it was asked for, is an answer', async t => {
  const { call } = await asking(t, async call => nameOf(await call.elicit('user', { message: 'Who?', requestedSchema: FORM })))
  t.equal(textOf(await call({ inputResponses: { user: accept('Ada') } })), 'Ada')
})

t.test('what is done once is done once, however many rounds there are', async t => {
  let ran = 0
  const { call } = await asking(t, async call => {
    const order = await call.once('order', async () => ({ id: ++ran }))
    await call.elicit('a', { message: 'A?', requestedSchema: FORM })
    const paid = await call.once('paid', () => `paid ${++ran}`)
    await call.elicit('b', { message: 'B?', requestedSchema: FORM })
    return JSON.stringify([order, paid, await call.once('order', () => ++ran)])
  })
  const one = await call()
  const two = await call({ requestState: one.result.requestState, inputResponses: { a: accept('x') } })
  const three = await call({ requestState: two.result.requestState, inputResponses: { b: accept('y') } })
  t.equal(textOf(three), '[{"id":1},"paid 2",{"id":1}]')
  t.equal(ran, 2)
})

t.test('what is still being done once when a question is asked is not done again', async t => {
  let ran = 0
  const { call } = await asking(t, async call => {
    const [charge] = await Promise.all([
      call.once('charge', async () => await new Promise(resolve => setImmediate(() => resolve(++ran)))),
      call.elicit('sure', { message: 'Sure?', requestedSchema: FORM })
    ])
    return `charged ${String(charge)}`
  })
  const first = await call()
  t.equal(
    textOf(await call({ requestState: first.result.requestState, inputResponses: { sure: accept('yes') } })),
    'charged 1'
  )
  t.equal(ran, 1)
})

t.test('what failed once is tried again in the next round', async t => {
  let ran = 0
  const { call } = await asking(t, async call => {
    const order = await call
      .once('order', () => {
        if (++ran === 1) throw new Error('down')
        return ran
      })
      .catch(() => 'none')
    await call.elicit('a', { message: 'A?', requestedSchema: FORM })
    return `order ${order}`
  })
  const one = await call()
  t.equal(textOf(await call({ requestState: one.result.requestState, inputResponses: { a: accept('x') } })), 'order 2')
})

t.test('a tool that catches everything is asked for nothing less', async t => {
  const { call } = await asking(t, async call => {
    try {
      return nameOf(await call.elicit('user', { message: 'Who?', requestedSchema: FORM }))
    } catch {
      return 'nobody'
    }
  })
  t.strictSame(keysOf(await call()), ['user'])
})

t.test('a tool that passes on what it catches in its own words is asked for nothing less', async t => {
  const { call } = await asking(t, async call => {
    const ask = async (key: string) => await call.elicit(key, { message: 'Who?', requestedSchema: FORM })
    try {
      return nameOf(await Promise.any([ask('a'), ask('b')]))
    } catch (error) {
      throw new Error('nobody could be asked', { cause: error })
    }
  })
  t.strictSame(keysOf(await call()), ['a', 'b'])
  t.equal(textOf(await call({ inputResponses: { a: accept('Ada'), b: accept('Bob') } })), 'Ada')
})

t.test('a tool that awaits one of two questions leaves no unhandled rejection', async t => {
  const { call } = await asking(t, async call => {
    const a = call.elicit('a', { message: 'A?', requestedSchema: FORM })
    void call.elicit('b', { message: 'B?', requestedSchema: FORM })
    return nameOf(await a)
  })
  // An unhandled rejection fails this test by itself.
  t.strictSame(keysOf(await call()), ['a', 'b'])
  await new Promise(resolve => setImmediate(resolve))
})

t.test('an answer that does not fit the form is refused with a reason', async t => {
  const { call } = await asking(t, async call =>
    nameOf(await call.elicit('user', { message: 'Who?', requestedSchema: FORM }))
  )
  for (const answer of [
    { action: 'accept', content: { name: 7 } },
    { action: 'maybe' },
    7,
    null,
    { action: 'accept' }
  ]) {
    t.match(
      await call({ inputResponses: { user: answer } }),
      { error: { code: -32602, message: /elicitation\/create/ } },
      JSON.stringify(answer)
    )
  }
})

t.test('a refusal is an answer', async t => {
  const { call } = await asking(
    t,
    async call => (await call.elicit('user', { message: 'Who?', requestedSchema: FORM })).action
  )
  for (const action of ['decline', 'cancel']) {
    t.equal(textOf(await call({ inputResponses: { user: { action } } })), action)
  }
})

t.test('the same tool asks a legacy client directly and in parallel, and runs once', async t => {
  let ran = 0
  const { app } = await asking(t, async call => {
    await call.once('order', () => ++ran)
    const { a, b } = await call.ask({ a: question('A?'), b: question('B?') })
    await call.once('order', () => ++ran)
    return `${nameOf(a)} and ${nameOf(b)}, ${ran} order`
  })
  const { request } = await createClient(app, {
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': ({ message }) => accept(message === 'A?' ? 'Ada' : 'Bob') }
  })
  t.match(await request('tools/call', { name: 'it' }), { content: [{ text: 'Ada and Bob, 1 order' }] })
})
