import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { openEvents } from '../support/event-reader.js'
import { endSession, openSession, post, postHead } from '../support/http-requests.js'
import { call, callTool, initialize, NEWEST, notification } from '../support/messages.js'
import { exchange, request, type Head, type Reply } from '../support/http-client.js'
import { expectUnharmed, type Server } from '../support/server.js'
import { summarise } from '../support/summary.js'
import { sseConnection } from '../support/connections.js'
import { folder } from '../support/process.js'
import { as, hosted } from './host.js'

const MADE_UP = 'A'.repeat(32)
const HEADERS = ['Mcp-Session-Id', 'X-Session-ID']
const STREAM: [string, string] = ['Accept', 'text/event-stream']

const BODIES: Record<string, string> = {
  'tools/list': call('tools/list')('legacy'),
  'tools/call': callTool('count')('legacy'),
  'resources/read': call('resources/read', { uri: 'test://text' })('legacy'),
  'resources/subscribe': call('resources/subscribe', { uri: 'test://text' })('legacy'),
  'resources/unsubscribe': call('resources/unsubscribe', { uri: 'server://counter' })('legacy'),
  'prompts/get': call('prompts/get', { name: 'introduce', arguments: { who: 'Ada' } })('legacy'),
  'completion/complete': call('completion/complete', {
    ref: { type: 'ref/prompt', name: 'introduce' },
    argument: { name: 'who', value: '' }
  })('legacy'),
  'logging/setLevel': call('logging/setLevel', { level: 'debug' })('legacy'),
  ping: call('ping')('legacy'),
  initialize: initialize(),
  'an unknown method': call('nobody/knows')('legacy'),
  'a cancellation': notification('notifications/cancelled', { requestId: 'hers' }),
  'an answer': JSON.stringify({ jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { name: 'Eve' } } }),
  'a batch': `[${call('ping')('legacy')}]`,
  'no message at all': '{}'
}

/** A request that names a session, with the credential in the head. */
type Visit = (port: number, session: Head, head: Head) => Promise<Reply>

const VISITS: Record<string, Visit> = {
  ...Object.fromEntries(
    Object.entries(BODIES).map(([what, body]): [string, Visit] => [
      `POST /mcp with ${what}`,
      async (port, session, head) => await post(port, '/mcp', body, [...session, ...head])
    ])
  ),
  'GET /mcp': stream('/mcp'),
  'GET /mcp from the first event on': stream('/mcp', [['Last-Event-ID', '0-0']]),
  'GET /mcp/sse': stream('/mcp/sse'),
  'GET /mcp/sse from the first event on': stream('/mcp/sse', [['Last-Event-ID', '0-0']]),
  'DELETE /mcp': async (port, session, head) =>
    await exchange(port, request('DELETE', '/mcp', [['Host', 'localhost'], ...session, ...head]))
}

t.test('F3: the session of another caller is answered like an unknown session', async t => {
  const server = await hosted(t)
  const { port } = server
  const ada = as(server, 'ada')
  const hers = await AdasSession.open(ada)

  for (const [who, { head = [] }] of [
    ['Bob', as(server, 'bob')],
    ['somebody without a name', server],
    ['Ada in capitals', as(server, 'ADA')]
  ] as Array<[string, Server]>) {
    for (const [what, visit] of Object.entries(VISITS)) {
      for (const name of HEADERS) {
        const foreign = await visit(port, [[name, hers.id]], head)
        const unknown = await visit(port, [[name, MADE_UP]], head)
        t.strictSame(comparable(foreign), comparable(unknown), `${who}: ${what}, ${name}`)
        t.match(foreign.status, /^40[04]$/)
      }
    }
    const own = await openSession(port, initialize(), head)
    const mixed = async (id: string) =>
      comparable(
        await post(port, '/mcp', BODIES.ping as string, [['Mcp-Session-Id', own], ['X-Session-ID', id], ...head])
      )
    t.strictSame(await mixed(hers.id), await mixed(MADE_UP), `${who}: beside a session of their own`)
    for (const event of await hers.eventIds()) {
      const resume = async (id: string) =>
        comparable(await stream('/mcp', [['Last-Event-ID', id]])(port, [['Mcp-Session-Id', own]], head))
      t.strictSame(
        await resume(event),
        await resume(`abcdefabcdef-${event.split('-')[1]}`),
        `${who}: the event ${event} in a session of their own`
      )
    }
    await endSession(port, own, head)
  }

  t.equal(server.seen.counted, 0, 'nothing was run')
  await hers.isUntouched(t)
  await hers.end()
  await expectUnharmed(t, server)
})

t.test('H3: the HTTP+SSE stream of another caller takes no messages', async t => {
  const server = await hosted(t)
  const ada = as(server, 'ada')
  const connection = await sseConnection(ada)
  const endpoint = await endpointOf(server, ada)
  for (const [who, { head }] of [
    ['Bob', as(server, 'bob')],
    ['somebody without a name', server]
  ] as Array<[string, Server]>) {
    for (const [what, body] of Object.entries(BODIES)) {
      const [foreign, unknown] = [
        await post(server.port, endpoint.path, body, head),
        await post(server.port, `/message?sessionId=${MADE_UP}`, body, head)
      ]
      t.strictSame(comparable(foreign), comparable(unknown), `${who}: ${what}`)
      t.equal(foreign.status, 404)
    }
  }
  t.strictSame(endpoint.received, [], 'it heard nothing')
  await post(server.port, endpoint.path, call('ping')('legacy'), ada.head)
  await until(() => endpoint.received.length === 1, 'an answer')
  t.equal(summarise(JSON.parse(endpoint.received[0] ?? '')), 'ok id 7', 'and goes on')
  await endpoint.close()
  await connection.close()
  await expectUnharmed(t, server)
})

t.test('F3: a stored session is restored for its owner alone, whichever caller asks first', async t => {
  const data = await folder(t, {})
  const before = await hosted(t, { data })
  const ids = await Promise.all(
    Array.from({ length: 10 }, async () => await openSession(before.port, initialize(), as(before, 'ada').head))
  )
  await before.app.close()

  const after = await hosted(t, { data })
  const visit = async (id: string, { head }: Server) =>
    (await post(after.port, '/mcp', BODIES.ping as string, [['Mcp-Session-Id', id], ...(head ?? [])])).status
  for (const [index, id] of ids.entries()) {
    const others = ['bob', 'eve', 'ADA'].map(async name => await visit(id, as(after, name)))
    const own = visit(id, as(after, 'ada'))
    const anonymous = visit(id, after)
    t.strictSame(await Promise.all([...others, anonymous, own]), [404, 404, 404, 404, 200], `session ${index + 1}`)
    t.equal(await visit(id, as(after, 'bob')), 404, 'nor later')
  }
  for (const id of ids) await endSession(after.port, id, as(after, 'ada').head)
  await expectUnharmed(t, after)
})

/**
 * A session with everything that another caller could try to take: a stream, a call in flight, a subscription, a
 * question.
 */
class AdasSession {
  readonly received: string[] = []
  readonly #events: string[] = []
  #close = async (): Promise<void> => {}
  #asked: Promise<Reply> | undefined

  private constructor (readonly server: Server & { head: Head }, readonly id: string) {}

  static async open (server: Server & { head: Head }): Promise<AdasSession> {
    const session = new AdasSession(
      server,
      await openSession(server.port, initialize(NEWEST, { elicitation: {} }), server.head)
    )
    await session.#post(call('resources/subscribe', { uri: 'server://counter' })('legacy'))
    const stream = await openEvents(
      server.port,
      '/mcp',
      { 'mcp-session-id': session.id, ...Object.fromEntries(server.head) },
      (data, { id }) => {
        if (id !== undefined) session.#events.push(id)
        if (data !== '') session.received.push(data)
      }
    )
    session.#close = stream.close
    session.#asked = session.#post(callTool('ask_name', {}, 'hers')('legacy'))
    const progress = await session.#post(
      call('tools/call', { name: 'slow', arguments: { steps: 2 }, _meta: { progressToken: 'p' } }, 'slow')('legacy')
    )
    session.#events.push(...[...progress.body.matchAll(/^id: (\S+)/mg)].map(([, id]) => id as string))
    await until(
      () => [...server.app.mcp.dispatcher.lifecycle.peers].some(peer => peer.inbound.has('hers')),
      'a question'
    )
    return session
  }

  /** Of every stream there was. */
  async eventIds (): Promise<string[]> {
    return this.#events.filter(id => !id.startsWith('0-'))
  }

  /** The stream is open and gets its notifications, the call waits for its own answer, and nothing else was sent. */
  async isUntouched (t: Test): Promise<void> {
    t.strictSame(this.received, [], 'the stream heard nothing of all this')
    await this.#post(callTool('increment_counter', {}, 'count')('legacy'))
    await until(() => this.received.length > 0, 'a notification')
    t.match(this.received.join(), /notifications\/resources\/updated.*server:\/\/counter/)
    t.equal(
      (
        await this.#post(
          JSON.stringify({ jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { name: 'Ada' } } })
        )
      ).status,
      202
    )
    t.match((await this.#asked)?.body, /Hello, Ada!/)
  }

  async end (): Promise<void> {
    await this.#close()
    await endSession(this.server.port, this.id, this.server.head)
  }

  async #post (body: string): Promise<Reply> {
    return await post(this.server.port, '/mcp', body, [['Mcp-Session-Id', this.id], ...this.server.head])
  }
}

async function endpointOf (
  { port }: Server,
  { head }: { head: Head }
): Promise<{ path: string, received: string[], close: () => Promise<void> }> {
  const received: string[] = []
  const { close } = await openEvents(port, '/sse', Object.fromEntries(head), data => received.push(data))
  await until(() => received.length > 0, 'the endpoint')
  return { path: received.shift() as string, received, close }
}

function stream (target: string, more: Head = []): Visit {
  return async (port, session, head) =>
    await exchange(
      port,
      request('GET', target, [
        ...postHead(port).filter(([name]) => name === 'Host'),
        STREAM,
        ...more,
        ...session,
        ...head
      ])
    )
}

/** A reply without its date. */
function comparable ({ status, headers, body }: Reply): unknown {
  const { date: _date, ...rest } = Object.fromEntries(headers)
  return { status, body, rest }
}
