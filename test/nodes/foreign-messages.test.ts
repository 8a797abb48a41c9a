import t from 'tap'
import { at, callOf, messages, onSharedRedis, pairOf } from '../support/environment/nodes.js'
import { redisLink } from '../support/environment/redis-commands.js'
import { openSession, slow } from '../support/http-session.js'

const SENDER = '0123456789ab'
const LONG = 'x'.repeat(300_000)

onSharedRedis(t, (t, share) => {
  t.test('what other programs write into the channels of nodes does no harm', async t => {
    const shared = await share(t)
    const [one, two] = await pairOf(t, shared)
    const session = await openSession(one.url, '2025-11-25', { elicitation: {} })
    const asking = await session.stream(callOf(1, 'ask_name'))
    const { id } = await asking.message()
    const running = await at(two, session).stream(slow(2, 100_000, 20))
    const stream = await session.listen()
    await running.message()
    const link = await redisLink(t, String(shared.redis))
    const { self = '' } = one.app.mcp.store.nodes
    const texts = brokenTexts(session.id, String(id))
    for (const channel of [`n:${self}`, 'all']) {
      for (const text of texts) {
        t.ok(Number(await link.command('PUBLISH', `${shared.redisPrefix}${channel}`, text)) > 0, text.slice(0, 80))
      }
    }
    await at(two, session).post({ id, result: { action: 'accept', content: { name: 'Ada' } } })
    t.match(
      await messages(asking),
      [{ id: 1, result: { content: [{ text: 'Hello, Ada!' }] } }],
      'the call had its own answer'
    )
    t.match(await running.message(), { method: 'notifications/progress' }, 'the other call was not cancelled')
    two.app.mcp.sessions.find(session.id)?.peer.notify('notifications/message', { level: 'info', data: 'now' })
    t.match(await stream.message(), { params: { data: 'now' } }, 'nothing else came on the stream')
    for (const node of [one, two]) {
      t.match((await at(node, session).post(callOf(3, 'echo', { text: 'hi' }))).body, {
        result: { structuredContent: { text: 'hi' } }
      })
    }
    t.equal(await session.end(), 200)
  })
})

const passed = (body: object): string => JSON.stringify({ kind: 'broadcast', request: { kind: 'passed', body } })

/** Texts that are no messages of nodes, or concern what is not there. */
function brokenTexts (session: string, question: string): string[] {
  const answer = JSON.stringify({
    jsonrpc: '2.0',
    id: question,
    result: { action: 'accept', content: { name: 'Mallory' } }
  })
  const messages = [
    '',
    '{',
    'null',
    '[]',
    '7',
    '"text"',
    '{}',
    LONG,
    passed({ session, text: answer, long: LONG }),
    ...[undefined, null, 7, {}, [], 'unknown', '__proto__', 'constructor', 'toString'].map(kind =>
      JSON.stringify({ kind, request: { kind, body: {} }, number: 1, numbers: [1] })
    ),
    ...[7, null, {}, [session]].map(wrong => passed({ session: wrong, text: answer })),
    ...[7, null, {}].map(wrong => passed({ session, principal: wrong ?? 7, text: answer })),
    ...[7, null, {}, '', '{', '[]', 'null', '[{}]', LONG.slice(0, 60_000)].map(text => passed({ session, text })),
    passed({
      session,
      text: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'increment_counter' } })
    }),
    passed({
      session,
      text: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } })
    }),
    passed({ session, text: `[${answer}]` }),
    passed({ session, principal: 'mallory', text: answer }),
    passed({ session: 'none', text: answer }),
    ...['broadcast', 'request', 'reply', 'done', 'waits', 'works']
      .flatMap(kind => [
        { kind },
        { kind, number: 'x', numbers: 'x' },
        { kind, number: 1e300, request: null, reply: null, numbers: [null] },
        { kind, number: -1, request: { kind: 'none', body: {} }, reply: 'none', numbers: [-1, 0] },
        { kind, number: 1, request: { kind: 'refresh', body: {} }, reply: {}, numbers: [], again: 'x' },
        { kind, number: 2, request: { kind: 'handover', body: { session: 7 } }, reply: 'unknown' },
        { kind, number: 3, request: { kind: 'post', body: {} }, reply: { answer: null } },
        { kind, number: 4, request: { kind: 'resume', body: {} }, reply: 'failed' },
        { kind, number: 5, request: { kind: 'refresh' } }
      ])
      .map(message => JSON.stringify(message))
  ]
  const notices = [
    '',
    '\n',
    ' \n',
    'x',
    'x y z\nw',
    `stored ${SENDER}`,
    `stored ${SENDER} none\n`,
    `stored ${SENDER} ../x\n`,
    ...['event', 'more', 'moved', 'session', 'change', 'changed', 'gone'].flatMap(kind => [
      kind,
      `${kind}\n`,
      `${kind} ${session}\n`,
      `${kind} ${session} 0 x y z\n{`,
      `${kind} none 0 1 0\n${LONG.slice(0, 1_000)}`
    ])
  ]
  return [...messages.map(message => `message ${SENDER}\n${message}`), ...messages.slice(0, 8), ...notices]
}
