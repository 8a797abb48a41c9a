import { once, EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { WebSocket } from 'ws'
import { within } from '../support/wait.js'
import { asJson, asStream, host, modernPost } from '../support/host.js'
import { messagesOf } from '../support/event-reader.js'
import { type Json } from '../support/modern.js'

const REPLIES = { 'a JSON reply': asJson, 'an event stream': asStream }

const seal = async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => { reply.header('x-seen', 'yes') }

/** Each hook sets a header, in the way such a hook does. */
const HOOKS: Record<string, (app: FastifyInstance) => void> = {
  onRequest: app => {
    app.addHook('onRequest', seal)
  },
  preParsing: app => {
    app.addHook('preParsing', async (request, reply, payload) => {
      await seal(request, reply)
      return payload
    })
  },
  preValidation: app => {
    app.addHook('preValidation', seal)
  },
  preHandler: app => {
    app.addHook('preHandler', seal)
  },
  onSend: app => {
    app.addHook('onSend', async (request, reply, payload) => {
      await seal(request, reply)
      return payload
    })
  }
}

for (const [name, add] of Object.entries(HOOKS)) {
  for (const [kind, request] of Object.entries(REPLIES)) {
    t.test(`${name} runs for ${kind}, and the header it sets arrives`, async t => {
      const app = await host(t, add)
      const response = await app.inject(request)
      t.equal(response.headers['x-seen'], 'yes')
      t.match(response.headers['content-type'], kind === 'a JSON reply' ? /^application\/json/ : /^text\/event-stream/)
      t.match(kind === 'a JSON reply' ? response.json() : messagesOf(response.body).at(-1), {
        id: 1,
        result: { resultType: 'complete' }
      })
    })
  }
}

t.test('onSend does not see the payload of an event stream', async t => {
  const seen: unknown[] = []
  const app = await host(t, app => {
    app.addHook('onSend', async (_request, _reply, payload) => {
      seen.push(payload)
    })
  })
  const response = await app.inject(asStream)
  t.strictSame(seen, [undefined])
  t.match(messagesOf(response.body).at(-1), { id: 1, result: { resultType: 'complete' } })
})

t.test('an onSend hook that fails is answered by the error handler, and leaves no stream behind', async t => {
  const app = await host(
    t,
    app => {
      app.addHook('onSend', async (_request, reply) => {
        if (reply.statusCode === 200) throw new Error('not this one')
      })
    },
    { limits: { maxStreams: 1 } }
  )
  for (let times = 0; times < 3; times++) t.equal((await app.inject(asStream)).statusCode, 500)
  t.ok(app.mcp.eventStreams.hasCapacity)
})

for (const [kind, request] of Object.entries(REPLIES)) {
  t.test(`onResponse runs once, after ${kind}`, async t => {
    const seen: number[] = []
    const done = new EventEmitter()
    const app = await host(t, app => {
      app.addHook('onResponse', async (_request, reply) => {
        seen.push(reply.statusCode)
        done.emit('response')
      })
    })
    await within(60_000, async signal => await Promise.all([once(done, 'response', { signal }), app.inject(request)]))
    t.strictSame(seen, [200])
  })

  t.test(`a host that makes ${kind} callable from other sites sets its headers on it`, async t => {
    const app = await host(t, app => {
      app.addHook('onRequest', async (request, reply) => {
        reply.headers({ 'access-control-allow-origin': 'https://app.example.com', vary: 'origin' })
        if (request.method === 'OPTIONS') {
          return await reply.code(204).header('access-control-allow-headers', 'mcp-session-id').send()
        }
      })
    }, { allowedOrigins: ['https://app.example.com'] })
    const origin = { origin: 'https://app.example.com' }
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/ai/mcp',
      headers: { ...origin, 'access-control-request-method': 'POST' }
    })
    t.equal(preflight.statusCode, 204)
    const response = await app.inject({ ...request, headers: { ...request.headers, ...origin } })
    t.equal(response.statusCode, 200)
    t.equal(response.headers['access-control-allow-origin'], 'https://app.example.com')
  })
}

t.test('a hook that refuses keeps everything out: replies, streams and sockets', async t => {
  const app = await host(t, app => {
    app.addHook('onRequest', async (_request, reply) => await reply.code(401).send({ problem: 'who are you?' }))
  })
  for (const request of [asJson, asStream, { url: '/ai/sse' }, { url: '/ai/mcp/sse' }, { url: '/ai/health' }]) {
    t.equal((await app.inject(request)).statusCode, 401)
  }
  const socket = new WebSocket((await app.listen({ port: 0 })).replace('http', 'ws') + '/ai/mcp')
  socket.on('error', () => {})
  const [, response] = (await within(
    60_000,
    async signal => await once(socket, 'unexpected-response', { signal })
  )) as [unknown, { statusCode: number }]
  t.equal(response.statusCode, 401)
  socket.terminate()
})

t.test('onError sees refusals, with the status they have', async t => {
  const seen: unknown[] = []
  const app = await host(t, app => {
    app.addHook('onError', async (_request, reply, error) => {
      seen.push([(error as Error & { statusCode: number }).statusCode, error.message])
    })
  })
  await app.inject({ method: 'POST', url: '/ai/mcp', payload: 'x', headers: { 'content-type': 'text/plain' } })
  t.match(seen, [[415, /Content-Type/]])
})

t.test('onTimeout runs when the connection timeout of the host ends a call', async t => {
  const timeouts = new EventEmitter()
  const app = await host(
    t,
    app => {
      app.addHook('onTimeout', async request => {
        timeouts.emit('timeout', request.url)
      })
    },
    {},
    { connectionTimeout: 300 }
  )
  const url = await app.listen({ port: 0 })
  const { method, headers, payload } = modernPost('slow', { steps: 1, delay: 60_000 })
  const answer = fetch(`${url}/ai/mcp`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(payload)
  }).catch(() => 'cut')
  t.strictSame(await within(60_000, async signal => await once(timeouts, 'timeout', { signal })), ['/ai/mcp'])
  t.equal(await answer, 'cut')
})

t.test('onRequestAbort runs when a client leaves a stream', async t => {
  const aborts = new EventEmitter()
  const app = await host(t, app => {
    app.addHook('onRequestAbort', async request => {
      aborts.emit('abort', request.url)
    })
  })
  const url = await app.listen({ port: 0 })
  const controller = new AbortController()
  await within(60_000, async signal => {
    const aborted = once(aborts, 'abort', { signal })
    await fetch(`${url}/ai/sse`, { signal: controller.signal })
    controller.abort()
    t.strictSame(await aborted, ['/ai/sse'])
  })
})

t.test('requests have the ids the host gives them, in its log and on the reply', async t => {
  const lines: Json[] = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Json)
      done()
    }
  })
  let last = 0
  const app = await host(
    t,
    app => {
      app.addHook('onSend', async (request, reply) => {
        reply.header('x-request-id', request.id)
      })
    },
    {},
    { genReqId: () => `request ${++last}`, loggerInstance: pino({}, output) }
  )
  for (const request of [asJson, asStream]) {
    t.equal((await app.inject(request)).headers['x-request-id'], `request ${last}`)
    t.match(
      lines.filter(({ reqId }) => reqId === `request ${last}`).map(({ msg }) => msg),
      ['incoming request', 'request completed']
    )
  }
})

t.test('what the host decorates requests with is there in its hooks', async t => {
  const users: unknown[] = []
  const app = await host(t, app => {
    app.decorateRequest('user', '')
    app.addHook('onRequest', async request => { request.setDecorator('user', 'ada') })
    app.addHook('onResponse', async request => { users.push(request.getDecorator('user')) })
  })
  await app.inject(asJson)
  t.strictSame(users, ['ada'])
})
