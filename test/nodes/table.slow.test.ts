import t, { type Test } from 'tap'
import {
  at,
  callOf,
  messages,
  onSharedRedis,
  onSharedStores,
  pairOf,
  type Node,
  type Share
} from '../support/environment/nodes.js'
import { openStream, type Json } from '../support/event-reader.js'
import { openSession, post, slow, type HttpSession } from '../support/http-session.js'
import { Inbox, takeTime, until } from '../support/wait.js'

const COUNTER = 'server://counter'

interface Place { first: Node, second: Node, session: HttpSession }

/** What a client sees that opened its session at the first node and continues at the second, which may be the same. */
type Case = (place: Place) => Promise<unknown>

const ANSWERS: Record<string, [tool: string, result: object]> = {
  'an answer of a model': ['ask_model', { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } }],
  'a list of roots': ['ask_roots', { roots: [{ uri: 'file:///a' }] }]
}

const CASES: Record<string, Case> = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([name, [tool, result]]): [string, Case] => [
      name,
      async ({ second, session }) => {
        const reply = await session.stream(callOf(1, tool))
        const question = await reply.message()
        const { status } = await at(second, session).post({ id: question['id'], result })
        return [question, status, await messages(reply)]
      }
    ])
  ),
  // Revisions without batches refuse them, and the two answers come one by one.
  batches: async ({ second, session }) => {
    const replies = [await session.stream(callOf(1, 'ask_model')), await session.stream(callOf(2, 'ask_roots'))]
    const ids = await Promise.all(replies.map(async reply => (await reply.message())['id']))
    const answers = Object.values(ANSWERS).map(([, result], index) => ({ jsonrpc: '2.0', id: ids[index], result }))
    const other = at(second, session)
    const mixed = await postBatch(other, [{ jsonrpc: '2.0', id: 3, method: 'ping' }, ...answers])
    const requests = await postBatch(other, [
      { jsonrpc: '2.0', id: 3, method: 'ping' },
      { jsonrpc: '2.0', ...callOf(4, 'echo', { text: 'hi' }) }
    ])
    const posted = await postBatch(other, answers)
    if (posted[0] !== 202) for (const answer of answers) await other.post(answer)
    return [mixed, requests, posted, ...(await Promise.all(replies.map(messages)))]
  },
  'a cancellation': async ({ second, session }) => {
    const reply = await session.stream(slow(1, 100_000, 20))
    await reply.message()
    const { status } = await at(second, session).post({ method: 'notifications/cancelled', params: { requestId: 1 } })
    return [status, (await messages(reply)).filter(({ method }) => method !== 'notifications/progress')]
  },
  'a stream and subscriptions': async ({ first, second, session }) => {
    const other = at(second, session)
    const subscribed = await other.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    const stream = await other.listen()
    await first.app.mcp.store.values.increment('counter', 'value', 1)
    const updated = await stream.message()
    const unsubscribed = await other.post({ id: 2, method: 'resources/unsubscribe', params: { uri: COUNTER } })
    await first.app.mcp.store.values.increment('counter', 'value', 1)
    first.app.mcp.sessions.find(session.id)?.peer.notify('notifications/message', { level: 'info', data: 'last' })
    const last = await stream.message()
    stream.drop()
    return [subscribed.body, updated, unsubscribed.body, last]
  },
  'a reply that is resumed': async ({ second, session }) => {
    const reply = await session.stream(slow(1, 10, 20))
    let event = await reply.event()
    while (event?.data === undefined || event.data === '') event = await reply.event()
    reply.drop()
    return [event.data, await messages(await at(second, session).listen(event.id))]
  },
  'a log level': async ({ second, session }) => {
    const set = await at(second, session).post({ id: 1, method: 'logging/setLevel', params: { level: 'error' } })
    const quiet = await session.post(callOf(2, 'say', { level: 'info', text: 'quiet' }))
    return [
      set.body,
      quiet.body,
      await messages(await session.stream(callOf(3, 'say', { level: 'error', text: 'loud' })))
    ]
  },
  'named events': async ({ first, second, session }) => {
    const stream = await openStream(`${second.url}/mcp/sse`, { headers: session.headers })
    await until(() => first.app.mcp.sessions.find(session.id)?.named === true, 'the node knows of the named events')
    const [connected, reply] = [await stream.event(), await session.post(slow(1, 2, 5))]
    const events = [await stream.event(), await stream.event()].map(event => [event?.event, event?.data])
    stream.drop()
    return [connected?.event, reply.body, events]
  },
  'the notification initialized': async ({ second, session }) => {
    const { status } = await at(second, session).post({ method: 'notifications/initialized' })
    return [status, (await session.post(callOf(1, 'echo', { text: 'hi' }))).body]
  },
  'the end of the session': async ({ first, second, session }) => {
    const reply = await session.stream(slow(1, 100_000, 20))
    await reply.message()
    const ended = await at(second, session).end()
    const rest = (await messages(reply)).filter(({ method }) => method !== 'notifications/progress')
    const [one, two] = [
      await session.post({ id: 2, method: 'ping' }),
      await at(second, session).post({ id: 2, method: 'ping' })
    ]
    return [ended, rest, one.status, one.body, two.status, first.app.mcp.sessions.find(session.id)]
  }
}

onSharedStores(t, (t, share) => compareNodes(t, share, ['2025-11-25']))

// What is peculiar to a revision does not depend on the store.
onSharedRedis(t, (t, share) => compareNodes(t, share, ['2024-11-05', '2025-03-26', '2025-06-18']))

onSharedStores(t, (t, share) => {
  t.test('a POST of an HTTP+SSE client is served alike at the node with its stream and at another', async t => {
    const [one, two] = await pairOf(t, await share(t))
    await openSession(two.url)
    const transcripts: unknown[] = []
    for (const second of [one, two]) {
      const stream = await openStream(`${one.url}/sse`)
      const endpoint = (await stream.event())?.data ?? ''
      const received = new Inbox<Json>()
      void (async () => { for (;;) received.push(await stream.message()) })().catch(() => {})
      const send = async (message: object | string) => {
        const body = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
        const reply = await fetch(
          `${second.url}${new URL(endpoint, second.url).pathname}${new URL(endpoint, second.url).search}`,
          { method: 'POST', headers: { 'content-type': 'application/json' }, body }
        )
        return [reply.status, await reply.text()]
      }
      const hello = {
        id: 0,
        method: 'initialize',
        params: {
          protocolVersion: '2024-11-05',
          capabilities: { sampling: {} },
          clientInfo: { name: 'test', version: '1' }
        }
      }
      const transcript: unknown[] = [
        await send(hello),
        await received.next(),
        await send({ method: 'notifications/initialized' })
      ]
      transcript.push(await send(callOf(1, 'ask_model')))
      const question = await received.next()
      transcript.push(
        question,
        await send({ id: question['id'], result: ANSWERS['an answer of a model']?.[1] ?? {} }),
        await received.next()
      )
      transcript.push(
        await send('{'),
        await send(callOf(2, 'echo', { text: 'x'.repeat(100_000) })),
        await received.next()
      )
      stream.drop()
      transcripts.push(withoutIds(transcript))
    }
    t.equal(transcripts[1], transcripts[0])
    t.equal((await post(two.url, { id: 1, method: 'ping' })).status, 200)
  })

  t.test(
    'a POST of an HTTP+SSE client waits for a node that is slow, and for one that is away for a moment',
    async t => {
      const [one, two] = await pairOf(t, await share(t))
      const stream = await openStream(`${one.url}/sse`)
      const { pathname, search } = new URL((await stream.event())?.data ?? '', two.url)
      const ping = async (id: number) =>
        await fetch(`${two.url}${pathname}${search}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
        })
      delayMessages(one, 1_500)
      const slow = await ping(1)
      t.strictSame([slow.status, await slow.text()], [202, 'Accepted'])
      t.match(await stream.message(), { id: 1, result: {} })
      const { nodes } = two.app.mcp.store
      const send = nodes.send.bind(nodes)
      let attempts = 0
      nodes.send = async (...args) => ++attempts > 2 && (await send(...args))
      t.equal((await ping(2)).status, 202, 'a node that is not subscribed for a moment gets the message when it is')
      t.match(await stream.message(), { id: 2, result: {} })
      let lost = 1
      nodes.send = async (node, message) => (message.kind === 'request' && lost-- > 0) || (await send(node, message))
      t.equal((await ping(6)).status, 202, 'a message that gets lost is sent again')
      t.match(
        [await stream.message(), await ping(7), await stream.message()],
        [{ id: 6 }, { status: 202 }, { id: 7 }],
        'and is served once'
      )
      nodes.send = async () => true
      const silent = await ping(3)
      t.match([silent.status, await silent.json()], [504, { error: { data: { code: 'PATCHBAY_POST_NOT_PASSED_ON' } } }])
      t.equal(
        silent.headers.get('retry-after'),
        null,
        'the message may have arrived: no client is to send it again by itself'
      )
      nodes.send = async () => false
      const away = await ping(4)
      t.match([away.status, await away.json()], [503, { error: { data: { code: 'PATCHBAY_NODE_AWAY' } } }])
      t.ok(Number(away.headers.get('retry-after')) > 0, 'the message has not arrived')
      two.app.mcp.store.nodes.isAlive = async () => false
      const gone = await ping(5)
      t.match([gone.status, await gone.json()], [404, { error: { data: { code: 'PATCHBAY_UNKNOWN_SSE_SESSION' } } }])
      stream.drop()
    }
  )
})

/** Makes a node slow to tell others anything. */
function delayMessages ({ app: { mcp: { store: { nodes } } } }: Node, ms: number): void {
  const send = nodes.send.bind(nodes)
  nodes.send = async (...message) => {
    await takeTime(ms)
    return await send(...message)
  }
}

function compareNodes (t: Test, share: Share, revisions: string[]): void {
  let pair: Promise<[Node, Node]> | undefined
  for (const revision of revisions) {
    t.test(`${revision}: a session is served alike at its node and at another`, async test => {
      const [one, two] = await (pair ??= share(t).then(async shared => await pairOf(t, shared)))
      for (const [name, run] of Object.entries(CASES)) {
        const transcripts: string[] = []
        for (const second of [one, two]) {
          const session = await openSession(one.url, revision, { sampling: {}, roots: {} })
          transcripts.push(withoutIds(await run({ first: one, second, session })))
        }
        test.equal(transcripts[1], transcripts[0], name)
      }
    })
  }
}

async function postBatch ({ url, headers }: HttpSession, batch: object[]): Promise<[status: number, body: string]> {
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...types, ...headers },
    body: JSON.stringify(batch)
  })
  return [response.status, await response.text()]
}

/**
 * As text, without the ids that the gateway chooses, and without why a session was ended, which only the node knows
 * that ended it.
 */
const withoutIds = (transcript: unknown): string =>
  JSON.stringify(transcript)
    .replace(/"[0-9a-f]{12}-\d+"/g, '"ID"')
    .replace(' (the client ended the session)', '')
