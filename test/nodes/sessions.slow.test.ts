import t, { type Test } from 'tap'
import { errors } from '../../protocol/wire/errors.js'
import { at, callOf, messages, onSharedStores, pairOf, type Node, type Share } from '../support/environment/nodes.js'
import { openSession, slow } from '../support/http-session.js'
import { until } from '../support/wait.js'

onSharedStores(t, sharedSessions)

const ask = (id: number | string) => callOf(id, 'ask_name')

/** What two gateways do together that share a store. */
function sharedSessions (t: Test, share: Share): void {
  t.test('two calls of one session at two nodes are both answered', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const replies = await Promise.all(
      [session, at(two, session)].map(async (client, index) => await messages(await client.stream(slow(index, 10, 20))))
    )
    for (const [index, received] of replies.entries()) {
      t.match(received.at(-1), { id: index, result: { content: [{ text: '10 steps' }] } })
      t.equal(received.length, 11)
    }
  })

  t.test('calls with the same id at two nodes each get their own result, and are cancelled one by one', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const places = [session, at(two, session)]
    const replies = await Promise.all(
      places.map(async (client, index) => await messages(await client.stream(slow(7, 3 + index, 20))))
    )
    t.match(
      replies.map(received => received.at(-1)),
      [3, 4].map(steps => ({ id: 7, result: { content: [{ text: `${steps} steps` }] } }))
    )
    t.strictSame(replies.map(({ length }) => length), [4, 5])
    const endless = await Promise.all(places.map(async client => await client.stream(slow(7, 10_000, 20))))
    for (const reply of endless) await reply.message()
    // First the one where the cancellation arrives.
    for (const reply of endless) {
      await session.post({ method: 'notifications/cancelled', params: { requestId: 7 } })
      t.ok(
        (await messages(reply)).every(({ method }) => method === 'notifications/progress'),
        'the call ends without a response'
      )
    }
  })

  t.test('an answer that reaches another node wakes the call', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url, '2025-11-25', { elicitation: {} })
    for (const [asks, answers] of [[one, one], [one, two], [two, one]] as const) {
      const reply = await at(asks, session).stream(ask(1))
      const question = await reply.message()
      t.match(question, {
        method: 'elicitation/create',
        id: new RegExp(`^${asks.app.mcp.store.nodes.self ?? ''}-\\d+$`)
      })
      const { status } = await at(answers, session).post({
        id: question['id'],
        result: { action: 'accept', content: { name: 'Ada' } }
      })
      t.equal(status, 202)
      t.match((await messages(reply)).at(-1), { id: 1, result: { content: [{ text: /Ada/ }] } })
    }
  })

  t.test(
    'an answer is acknowledged when the node that asked has it: one that gets lost is sent again, one that cannot be passed on is refused',
    async t => {
      const [one, two] = await pairOf(t, await share(t))
      const { nodes } = two.app.mcp.store
      const session = await openSession(one.url, '2025-11-25', { elicitation: {} })
      const answer = async (id: unknown) =>
        await at(two, session).post({ id, result: { action: 'accept', content: { name: 'Ada' } } })
      await at(two, session).post({ id: 0, method: 'ping' })
      for (const fault of ['lost', 'failed']) {
        const reply = await session.stream(ask(1))
        const { id } = await reply.message()
        const send = nodes.send.bind(nodes)
        let faults = 0
        nodes.send = async (...message) => {
          if (faults++ > 0 && fault === 'lost') return await send(...message)
          if (fault === 'failed') throw errors.storage('no')
          return true
        }
        const { status, headers } = await answer(id)
        nodes.send = send
        t.match(
          { status, again: headers.get('retry-after') },
          fault === 'lost' ? { status: 202 } : { status: 503, again: '1' }
        )
        if (fault === 'failed') t.equal((await answer(id)).status, 202)
        t.match((await messages(reply)).at(-1), { id: 1, result: { content: [{ text: /Ada/ }] } })
      }
    }
  )

  t.test('an answer for another session, or of another caller, changes nothing at another node', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const [session, other] = [
      await openSession(one.url, '2025-11-25', { elicitation: {} }),
      await openSession(one.url, '2025-11-25', { elicitation: {} })
    ]
    const reply = await session.stream(ask(1))
    const { id } = await reply.message()
    await at(two, other).post({ id, result: { action: 'accept', content: { name: 'Mallory' } } })
    await two.app.mcp.store.nodes.send(one.app.mcp.store.nodes.self ?? '', {
      kind: 'broadcast',
      request: {
        kind: 'passed',
        body: {
          session: session.id,
          principal: 'mallory',
          text: JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Mallory' } } })
        }
      }
    })
    await at(two, session).post({ id, result: { action: 'accept', content: { name: 'Ada' } } })
    t.match((await messages(reply)).at(-1), { result: { content: [{ text: /Ada/ }] } })
  })

  t.test('a cancellation that reaches another node stops the call', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const reply = await session.stream(slow(7, 10_000, 20))
    await reply.message()
    t.equal((await at(two, session).post({ method: 'notifications/cancelled', params: { requestId: 7 } })).status, 202)
    await until(() => one.app.mcp.sessions.find(session.id)?.peer.inbound.size === 0, 'the call is over')
  })

  t.test('a stream that is opened at another node gets what all nodes send', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const stream = await at(two, session).listen()
    const send = ({ app }: Node, number: number) =>
      app.mcp.sessions.find(session.id)?.peer.notify('notifications/message', { level: 'info', data: number })
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    for (const number of numbers) send(number % 2 === 0 ? one : two, number)
    const received: unknown[] = []
    while (received.length < 20) received.push(((await stream.message())['params'] as { data: unknown }).data)
    t.strictSame([...received].sort((a, b) => Number(a) - Number(b)), numbers)
    const back = await session.listen()
    send(two, 20)
    t.match(await back.message(), { params: { data: 20 } })
  })

  t.test('a reply is resumed at another node while the call runs', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const reply = await session.stream(slow(1, 60, 20))
    const { id = '' } = (await reply.event(), await reply.event()) ?? {}
    reply.drop()
    const rest = await messages(await at(two, session).listen(id))
    t.match(rest.at(-1), { id: 1, result: { content: [{ text: '60 steps' }] } })
    t.strictSame(
      rest.slice(0, -1).map(({ params }) => (params as { progress: number }).progress),
      Array.from({ length: 59 }, (_, index) => index + 2)
    )
  })

  t.test('a session that is ended at one node is gone at all, and its calls are over', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    const reply = await session.stream(slow(1, 10_000, 20))
    await reply.message()
    t.equal(await at(two, session).end(), 200)
    t.match((await messages(reply)).at(-1), { id: 1, error: { code: -32603 } })
    for (const node of [one, two]) t.equal((await at(node, session).post({ id: 1, method: 'ping' })).status, 404)
  })

  t.test('changes of lists and resources are announced once, by the node that has the stream', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    await at(two, session).post({ id: 1, method: 'resources/subscribe', params: { uri: 'server://counter' } })
    for (const node of [one, two, one]) {
      const stream = await at(node, session).listen()
      const other = node === one ? two : one
      await at(other, session).post({
        id: 2,
        method: 'tools/call',
        params: { name: 'increment_counter', arguments: {} }
      })
      t.match(await stream.message(), {
        method: 'notifications/resources/updated',
        params: { uri: 'server://counter' }
      })
      stream.drop()
    }
  })

  t.test('a node that is stopped leaves its sessions to the others', async t => {
    const [one, two] = await pairOf(t, await share(t))
    const session = await openSession(one.url)
    await session.post({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } })
    const reply = await session.stream(slow(1, 10_000, 20))
    const { id = '' } = (await reply.event(), await reply.event()) ?? {}
    reply.drop()
    const resumed = await at(two, session).listen(id)
    await one.app.close()
    t.match((await messages(resumed)).at(-1), { id: 1, error: { code: -32603 } })
    t.equal(two.app.mcp.sessions.find(session.id)?.peer.logLevel, 'debug')
    const stream = await at(two, session).listen()
    await at(two, session).post({ id: 3, method: 'resources/subscribe', params: { uri: 'server://counter' } })
    // What the first node would have announced meanwhile is not known.
    for (const kind of ['tools', 'prompts', 'resources']) {
      t.match(await stream.message(), { method: `notifications/${kind}/list_changed` })
    }
    await at(two, session).post({ id: 2, method: 'tools/call', params: { name: 'increment_counter', arguments: {} } })
    t.match(await stream.message(), { method: 'notifications/resources/updated' })
  })
}
