import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createClient, tool } from '../../app.js'
import { listening } from '../support/gateway.js'
import { inTime, takeTime, until } from '../support/wait.js'
import { gather } from './crowd.js'
import { textOf } from '../support/specification/message.js'

const input = Type.Object({})

/** Returns only when its call is aborted. */
const stuck = tool({
  name: 'stuck',
  description: 'Never returns',
  input,
  run: async (_args, { signal }) =>
    await new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('too late')))
})

const alive = tool({
  name: 'alive',
  description: 'Gives signs of life for longer than a call may be silent',
  input,
  run: async (_args, call) => {
    for (let step = 1; step <= 8; step++) {
      await takeTime(200)
      call.progress(step)
    }
    return 'done'
  }
})

t.test('a call that is never answered gets a timeout error on every transport', async t => {
  const place = await listening(t, {
    callTimeout: 1_000,
    plugins: [
      async app => {
        app.mcp.tools.add(stuck)
        app.mcp.tools.add(alive)
      }
    ]
  })
  const { members } = await gather(t, place)
  const replies = await inTime(
    Promise.all(
      members.map(async ({ client }) => await client.request('tools/call', { name: 'stuck', arguments: {} }))
    ),
    'the last answer'
  )
  for (const [index, reply] of replies.entries()) {
    const { transport, revision } = members[index]?.client ?? {}
    t.match(
      reply,
      { error: { code: -32603, message: /given up after \d+ ms/ } },
      `${transport?.name} in ${revision?.version}`
    )
  }

  const living = await inTime(
    Promise.all(
      members.map(async ({ client }) => await client.request('tools/call', { name: 'alive', arguments: {} }))
    ),
    'the last answer'
  )
  t.strictSame(living.map(textOf), members.map(() => 'done'), 'but not who hears of a sign of life')

  const inside = await createClient(place.app)
  await t.rejects(inside.request('tools/call', { name: 'stuck', arguments: {} }), {
    code: -32603,
    message: /given up after \d+ ms/
  })
})

t.test('so does one of a client that never initialized', async t => {
  const { app, url } = await listening(t, { callTimeout: 200 })
  app.mcp.use(async () => await new Promise(() => {}))
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const answer = await inTime(
    fetch(`${url}/mcp`, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
    'the answer'
  )
  t.match(await answer.json(), { id: 1, error: { code: -32603, message: /given up after \d+ ms/ } })
})

t.test('calls that begin after their client was let go end, too', async t => {
  const leave = tool({
    name: 'leave',
    description: 'Lets its own client go',
    run: async (_args, call) => {
      place.app.mcp.dispatcher.lifecycle.disconnect(call.peer, new Error('gone'))
    }
  })
  const place = await listening(t, {
    callTimeout: 200,
    plugins: [
      async app => {
        app.mcp.tools.add(stuck)
        app.mcp.tools.add(leave)
      }
    ]
  })
  const ended: string[] = []
  place.app.mcp.onEnd((call, { outcome }) => { ended.push(`${call.id} ${outcome}`) })
  const call = (id: number, name: string): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: {} }
  })
  void place.app.inject({ method: 'POST', url: '/message', payload: [call(1, 'leave'), call(2, 'stuck')] })
  await until(() => ended.length === 2)
  t.strictSame(ended.sort(), ['1 cancelled', '2 error'])
})
