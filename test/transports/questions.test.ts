import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { tool, type Options } from '../../app.js'
import fixture, { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { openSession } from '../support/http-session.js'
import type { Json } from '../support/event-reader.js'

interface Transport {
  /** Sends a call, and reads what belongs to it. */
  call: (message: object) => Promise<() => Promise<Json>>
  /** Sends something that is not answered. */
  sendMessage: (message: object) => Promise<void>
  ping: () => Promise<Json>
}

/** Clients of 2025-11-25 that can be asked for forms. */
const TRANSPORTS: Record<string, (t: Test, url: string) => Promise<Transport>> = {
  HTTP: async (_t, url) => {
    const session = await openSession(url, '2025-11-25', { elicitation: {} })
    return {
      call: async message => {
        const stream = await session.stream(message)
        return async () => await stream.message()
      },
      sendMessage: async message => { await session.post(message) },
      ping: async () => (await session.post({ id: 99, method: 'ping' })).body
    }
  },
  WebSocket: async (t, url) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    t.teardown(() => socket.terminate())
    await within(60_000, async signal => await once(socket, 'open', { signal }))
    const inbox: Json[] = []
    const arrivals = new EventEmitter()
    socket.on('message', data => { inbox.push(JSON.parse(String(data)) as Json); arrivals.emit('message') })
    const sendMessage = async (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const next = async () => await within(60_000, async signal => {
      while (inbox.length === 0) await once(arrivals, 'message', { signal })
      return inbox.shift() as Json
    })
    await sendMessage({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } }
    })
    await next()
    return {
      call: async message => {
        await sendMessage(message)
        return next
      },
      sendMessage,
      ping: async () => {
        await sendMessage({ id: 99, method: 'ping' })
        return await next()
      }
    }
  }
}

/** A tool that asks and does not wait for the answer. */
const unawaited = tool({
  name: 'impatient',
  description: 'd',
  run: (_input, call) => {
    void call.elicit('name', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } })
    return 'never mind'
  }
})

const ENDS: Array<[how: string, name: string, options: Partial<Options>, answer: Json]> = [
  [
    'runs out of time',
    'ask_name',
    { callTimeout: 20, callTimeoutMax: 100 },
    { error: { code: -32603, message: /given up/ } }
  ],
  ['does not wait for it', 'impatient', {}, { result: { content: [{ text: 'never mind' }] } }]
]

for (const [transport, open] of Object.entries(TRANSPORTS)) {
  for (const [how, name, options, answer] of ENDS) {
    t.test(`${transport}: when a call ${how}, its question is cancelled first and a late answer ignored`, async t => {
      const { url } = await listening(t, {
        ...options,
        plugins: [
          fixture,
          async ({ mcp: { tools } }) => {
            tools.add(unawaited)
          }
        ]
      })
      const { call, sendMessage, ping } = await open(t, url)
      const next = await call({ id: 1, method: 'tools/call', params: { name } })
      const question = await next()
      t.match(question, { method: 'elicitation/create' })
      t.match(await next(), { method: 'notifications/cancelled', params: { requestId: question.id } })
      t.match(await next(), { id: 1, ...answer })
      await sendMessage({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } })
      t.match(await ping(), { id: 99, result: {} })
    })
  }
}
