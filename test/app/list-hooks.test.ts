import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import { build, patchbay } from '../../app.js'
import fixture from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import { Connection, COUNT, endpoints, listOver, LONG, MODERN } from '../support/long-lists.js'
import { asStream } from '../support/host.js'
import { messagesOf } from '../support/event-reader.js'

// A long list is written without Fastify when all hooks have seen it, and when none of them has made something else of
// it. So are event streams.

const SERVED = { ...LONG, plugins: [...LONG.plugins, fixture] }

type Serve = (t: Test, add: (app: FastifyInstance) => void) => Promise<{ app: FastifyInstance, url: string }>

async function listen (t: Test, app: FastifyInstance) {
  t.teardown(async () => await app.close())
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

/** The places where a hook can be added. */
const PLACES: Record<string, Serve> = {
  'of a host, from before Patchbay is there': async (t, add) => {
    const app = Fastify()
    add(app)
    await app.register(patchbay, SERVED)
    return await listen(t, app)
  },
  'of a host, from when Patchbay is there': async (t, add) => {
    const app = Fastify()
    await app.register(patchbay, SERVED)
    add(app)
    return await listen(t, app)
  },
  'of the scope that Patchbay is in': async (t, add) => {
    const app = Fastify()
    await app.register(async scope => {
      await scope.register(patchbay, SERVED)
      add(scope)
    })
    return await listen(t, app)
  },
  'of a plugin': async (t, add) =>
    await listen(
      t,
      await build({
        ...SERVED,
        plugins: [
          ...SERVED.plugins,
          fp(async (app: FastifyInstance) => {
            add(app)
          })
        ]
      })
    ),
  'of a gateway that is built and not listening yet': async (t, add) => {
    const app = await build(SERVED)
    add(app)
    return await listen(t, app)
  },
  // As compression is added, for example.
  'of each route, by a host': async (t, add) => {
    const app = Fastify()
    app.addHook('onRoute', route => {
      const own: onSendHookHandler[] = []
      add({ addHook: (_name: string, hook: onSendHookHandler) => own.push(hook) } as unknown as FastifyInstance)
      route.onSend = [route.onSend ?? [], own].flat()
    })
    await app.register(patchbay, SERVED)
    return await listen(t, app)
  }
}

for (const [place, serve] of Object.entries(PLACES)) {
  t.test(`an onSend hook ${place}`, async t => {
    t.test('sees the whole text of a long list, and may add a header', async t => {
      const seen: unknown[] = []
      const { url } = await serve(t, app => {
        app.addHook('onSend', async (_request, reply, payload) => {
          seen.push(payload)
          reply.headers({ 'x-seen': 'yes', 'set-cookie': ['a=1', 'b=2'] })
        })
      })
      const ways = await endpoints(url)
      for (const [way, endpoint] of Object.entries(ways)) {
        seen.length = 0
        const { headers, body } = await listOver(t, url, endpoint, 'ü€😀')
        t.strictSame(seen, [body.toString()], way)
        t.equal(headers.get('x-seen'), 'yes')
        t.strictSame(headers.getSetCookie(), ['a=1', 'b=2'])
        t.equal(Number(headers.get('content-length')), body.length)
      }
    })

    t.test('may change it: what is sent is what it made, with its own length', async t => {
      const changed = { as: (_payload: string): unknown => undefined }
      const { url } = await serve(t, app => {
        app.addHook('onSend', (_request, _reply, payload, done) => done(null, changed.as(payload as string) as string))
      })
      const endpoint = MODERN
      const shorter = '{"id":"shorter €"}'
      const longer = (text: string) => text.replace('{"jsonrpc"', '{"more":"€","jsonrpc"')
      const { body } = await changedTo(t, url, changed, text => text)
      for (const [way, as, expected] of [
        ['a shorter text', () => shorter, shorter],
        ['a longer text', longer, longer(body)],
        ['bytes', (text: string) => Buffer.from(longer(text)), longer(body)],
        ['the same in bytes', (text: string) => Buffer.from(text), body],
        ['the same once more', (text: string) => JSON.stringify(JSON.parse(text)), body],
        ['nothing else', () => undefined, body]
      ] as const) {
        const got = await changedTo(t, url, changed, as)
        t.equal(got.body, expected, way)
        t.equal(got.length, String(Buffer.byteLength(expected)), way)
      }
      changed.as = text => Readable.from([Buffer.from(longer(text))])
      const response = await fetch(`${url}${endpoint.path}`, {
        method: 'POST',
        headers: { ...endpoint.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: endpoint.meta } })
      })
      t.equal(await response.text(), longer(body), 'a stream')
    })

    t.test('runs before an event stream begins, and its header arrives', async t => {
      const seen: unknown[] = []
      const { app } = await serve(t, app => {
        app.addHook('onSend', async (_request, reply, payload) => {
          seen.push(payload)
          reply.header('x-seen', 'yes')
        })
      })
      const { headers, body } = await app.inject({ ...asStream, url: '/mcp' })
      t.match(headers, { 'content-type': /^text\/event-stream/, 'x-seen': 'yes' })
      t.match(messagesOf(body).at(-1), { id: 1, result: { resultType: 'complete' } })
      t.strictSame(seen, [undefined])
    })

    t.test('may fail, and the error is the answer', async t => {
      const { url } = await serve(t, app => {
        app.addHook('onSend', async (_request, reply) => {
          if (reply.statusCode === 200) throw new Error('not this one')
        })
      })
      const connection = new Connection(t, url)
      for (let times = 0; times < 3; times++) {
        connection.ask(MODERN, [times])
        t.equal((await connection.next()).status, 500)
      }
      connection.socket.destroy()
    })

    t.test('may make the reply empty', async t => {
      let [status, emptied] = [204, false]
      const { url } = await serve(t, app => {
        app.addHook('onSend', async (_request, reply: FastifyReply) => {
          reply.code(status)
          if (emptied) return null
        })
      })
      for ([status, emptied] of [[204, false], [204, true], [304, true]] as Array<[number, boolean]>) {
        const response = await fetch(`${url}/message`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        })
        t.equal(response.status, status)
        t.equal(await response.text(), '')
        if (status === 204) t.equal(response.headers.get('content-length'), null)
      }
    })
  })
}

async function changedTo (
  t: Test,
  url: string,
  changed: { as: (payload: string) => unknown },
  as: (payload: string) => unknown
): Promise<{ body: string, length: string | null }> {
  changed.as = as
  const { body, headers } = await listOver(t, url, MODERN)
  return { body: body.toString(), length: headers.get('content-length') }
}

t.test('onResponse runs once after a long list, and knows how long it took', async t => {
  const events = new EventEmitter()
  const seen: unknown[] = []
  const app = Fastify()
  app.addHook('onResponse', async (_request, reply) => {
    seen.push([reply.statusCode, reply.sent, reply.elapsedTime > 0])
    events.emit('response')
  })
  await app.register(patchbay, LONG)
  const { url } = await listen(t, app)
  for (const endpoint of Object.values(await endpoints(url))) {
    seen.length = 0
    await within(
      60_000,
      async signal => await Promise.all([once(events, 'response', { signal }), listOver(t, url, endpoint)])
    )
    t.strictSame(seen, [[200, true, true]])
  }
})

t.test('routes of the host are left alone', async t => {
  const long = { text: '€'.repeat(20_000) }
  const app = Fastify()
  app.get('/own', async () => long)
  await app.register(patchbay, LONG)
  const { url } = await listen(t, app)
  await listOver(t, url)
  const response = await fetch(`${url}/own`)
  t.strictSame(await response.json(), long)
  const head = await fetch(`${url}/own`, { method: 'HEAD' })
  t.equal(head.headers.get('content-length'), response.headers.get('content-length'))
})

t.test('a client that leaves while a hook runs is not written to', async t => {
  const hook = new EventEmitter()
  const { app, url } = await (PLACES['of a plugin'] as Serve)(t, app => {
    app.addHook('onSend', async () => {
      hook.emit('entered')
      await once(hook, 'leave')
    })
  })
  const connection = new Connection(t, url)
  await within(60_000, async signal => {
    const entered = once(hook, 'entered', { signal })
    connection.ask(MODERN, [1])
    await entered
    connection.socket.resetAndDestroy()
    await until(() => app.mcp.connections.replies.size === 0)
    hook.emit('leave')
  })
  hook.on('entered', () => setImmediate(() => hook.emit('leave')))
  t.ok((await listOver(t, url)).message.result.tools.length >= COUNT, 'and the next one is served')
})
