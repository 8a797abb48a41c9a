import t, { type Test } from 'tap'
import { errors } from '../../protocol/wire/errors.js'
import { FIXTURE, PROCESSES } from '../support/process.js'
import { HttpSession, openSession, post, slow } from '../support/http-session.js'
import { openStream } from '../support/event-reader.js'
import { takeTime, until } from '../support/wait.js'
import { freePort, Gateway, gatewayOn, numberOf, Reading } from '../support/restarting.js'

const COUNTER = 'server://counter'
const call = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args }
})
function interrupted (id: number): object {
  const { code, message, data } = errors.interrupted()
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}

async function count (url: string): Promise<void> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', ...call(1, 'increment_counter') })
  })
  const { result } = await response.json() as { result?: { isError?: boolean } }
  if (result === undefined || result.isError === true) throw new Error('the counter was not incremented')
}

async function listen (session: HttpSession, lastEventId?: string): Promise<Reading> {
  return new Reading(await session.listen(lastEventId))
}

async function watching (session: HttpSession): Promise<Reading> {
  await session.post({ id: 'w', method: 'resources/subscribe', params: { uri: COUNTER } })
  return await listen(session)
}

async function ping (session: HttpSession): Promise<number> {
  return (await session.post({ id: 'p', method: 'ping' })).status
}

const progressOf = ({ messages }: Reading): number[] =>
  messages
    .filter(({ message }) => message.method === 'notifications/progress')
    .map(({ message }) => (message.params as { progress: number }).progress)

const namesOf = (page: object): string[] =>
  (page as { result: { tools: Array<{ name: string }> } }).result.tools.map(({ name }) => name)

const oneTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

/** A client in the middle of everything: what it has, and how to check that it goes on with it. */
async function busy (t: Test, gateway: Gateway, revision: string) {
  const session = await openSession(gateway.url, revision)
  await session.post({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } })
  const stream = await watching(session)
  for (let number = 1; number <= 3; number++) await count(gateway.url)
  await stream.until(messages => messages.length >= 3)
  const { body: { result } } = await session.post({ id: 3, method: 'tools/list' })
  const secondPage = { id: 4, method: 'tools/list', params: { cursor: (result as { nextCursor: string }).nextCursor } }
  const names = namesOf((await session.post(secondPage)).body)
  const reply = new Reading(await session.stream(slow(5, 1_000, 20)))
  await reply.until(() => progressOf(reply).length >= 3)

  return async () => {
    await Promise.all([stream.over, reply.over])
    t.equal(await ping(session), 200, `${revision}: the session is known`)
    t.strictSame(namesOf((await session.post(secondPage)).body), names, `${revision}: a cursor leads where it led`)

    const rest = await listen(session, reply.lastId)
    await rest.over
    t.strictSame(
      [...progressOf(reply), ...progressOf(rest)],
      oneTo(progressOf(reply).length + progressOf(rest).length),
      `${revision}: progress is complete`
    )
    t.strictSame(
      rest.messages.map(({ id }) => numberOf(id)),
      rest.messages.map((_, index) => numberOf(reply.lastId) + 1 + index)
    )
    t.strictSame(
      rest.messages.filter(({ message }) => 'id' in message).map(({ message }) => message),
      [interrupted(5)],
      `${revision}: the call is answered once`
    )
    t.equal((await session.listen(rest.lastId)).response.status, 204, `${revision}: and nothing follows`)

    const [first] = stream.messages
    const resumed = await listen(session, first?.id)
    const before = numberOf(stream.lastId)
    await resumed.until(messages => messages.length >= before - 1)
    await count(gateway.url)
    await resumed.until(messages => messages.length >= before)
    t.strictSame(
      resumed.messages.slice(0, before).map(({ id }) => id),
      oneTo(before).map(number => `0-${number + 1}`),
      `${revision}: events follow each other`
    )
    t.match(
      resumed.messages.at(-1)?.message,
      { method: 'notifications/resources/updated', params: { uri: COUNTER } },
      `${revision}: the subscription still delivers`
    )

    const reading = new Reading(await session.stream(call(7, 'say', { level: 'debug', text: 'a detail' })))
    await reading.over
    t.match(
      reading.messages.map(({ message }) => message),
      [
        { method: 'notifications/message', params: { level: 'debug', data: 'a detail' } },
        { id: 7, result: {} }
      ],
      `${revision}: the log level is the same`
    )
    resumed.drop()
  }
}

async function sendBatch (session: HttpSession): Promise<Reading> {
  const messages = [
    slow(1, 1_000, 20),
    { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
    slow(2, 1_000, 20, 'q')
  ]
  const reply = new Reading(await openStream(`${session.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...session.headers },
    body: JSON.stringify(messages.map(message => ({ jsonrpc: '2.0', ...message })))
  }))
  await reply.until(messages => messages.length > 2)
  return reply
}

t.test('sessions and streams outlive the process', async t => {
  t.jobs = PROCESSES

  t.test('clients go on as if nothing had happened when the server was killed', async t => {
    const gateway = await gatewayOn(t, ['--plugin', FIXTURE], { PATCHBAY_PAGE_SIZE: '5' })
    await gateway.start()
    const clients = [await busy(t, gateway, '2025-06-18'), await busy(t, gateway, '2025-11-25')]
    const old = await openSession(gateway.url, '2025-03-26')
    const batch = await sendBatch(old)
    await gateway.end('SIGKILL')
    await batch.over
    await gateway.start()
    // Restarted once more, before any client has come back: what was sent at the first start is not sent again.
    await gateway.restart()
    for (const goesOn of clients) await goesOn()
    const rest = await listen(old, batch.lastId)
    await rest.over
    t.strictSame(rest.messages.at(-1)?.message, [interrupted(1), interrupted(2)], 'everything in a batch is answered')
  })

  t.test('sessions are what their clients left them as when the server was killed', async t => {
    const gateway = await gatewayOn(t)
    await gateway.start()
    const [ended, kept, deaf, away] = (await Promise.all(
      [1, 2, 3, 4].map(async () => await openSession(gateway.url))
    )) as [HttpSession, HttpSession, HttpSession, HttpSession]
    await away.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    await deaf.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    await deaf.post({ id: 2, method: 'resources/unsubscribe', params: { uri: COUNTER } })
    await count(gateway.url)
    t.equal(await ended.end(), 200)
    await gateway.restart()
    await count(gateway.url)

    t.equal(await ping(ended), 404, 'one that was ended stays ended')
    t.equal((await ended.listen()).response.status, 404)
    t.equal(await ended.end(), 404)
    t.equal(await ping(kept), 200)
    t.equal(await ping(new HttpSession(gateway.url, 'x'.repeat(32))), 404, 'one that never was is not there')

    const updates = await watching(deaf)
    await count(gateway.url)
    await updates.until(messages => messages.length > 0)
    t.strictSame(updates.messages.map(({ id }) => id), ['0-1'], 'a subscription that was taken back is not there')
    updates.drop()

    const waited = await listen(away)
    await waited.until(messages => messages.length >= 3)
    t.strictSame(
      waited.messages.map(({ id }) => id),
      ['0-1', '0-2', '0-3'],
      'what was said while nobody listened waits'
    )
    waited.drop()

    t.equal(await kept.end(), 200)
    await gateway.restart()
    t.equal(await ping(kept), 404, 'one that was brought back can be ended')
  })

  t.test('a server that ends in order leaves its sessions and streams to the next', async t => {
    const gateway = await gatewayOn(t, ['--plugin', FIXTURE], { PATCHBAY_GRACE: '300' })
    await gateway.start()
    const session = await openSession(gateway.url)
    const stream = await watching(session)
    await count(gateway.url)
    await stream.until(messages => messages.length === 1)
    const reply = new Reading(await session.stream(slow(2, 1_000, 20)))
    await reply.until(() => progressOf(reply).length >= 2)
    t.equal(await gateway.end('SIGTERM'), 0)
    await Promise.all([stream.over, reply.over])
    await gateway.start()
    t.equal(await ping(session), 200)
    const answered = reply.messages.some(({ message }) => 'id' in message) ? reply : await listen(session, reply.lastId)
    await answered.over
    t.match(
      answered.messages.at(-1)?.message,
      { id: 2, error: { code: -32603 } },
      'the call that was under way is answered'
    )
    t.equal((await session.listen(answered.lastId)).response.status, 204, 'once')
    const resumed = await listen(session, stream.lastId)
    await count(gateway.url)
    await resumed.until(messages => messages.length >= 1)
    t.strictSame(resumed.messages.map(({ id }) => id), ['0-2'])
    resumed.drop()
  })

  t.test('after a restart a client is notified of every change, though calls were cut', async t => {
    const gateway = await gatewayOn(t, ['--plugin', FIXTURE])
    await gateway.start()
    const session = await openSession(gateway.url)
    await session.post({ id: 1, method: 'resources/subscribe', params: { uri: COUNTER } })
    const replies = await Promise.all(
      oneTo(40).map(async number => new Reading(await session.stream(slow(100 + number, 1_000, 20, String(number)))))
    )
    await Promise.all(replies.map(async reply => await reply.until(messages => messages.length > 0)))
    await gateway.end('SIGKILL')
    let changes = 0
    const change = async () => {
      while (changes < 40) {
        await count(gateway.url).then(
          () => {
            changes++
          },
          async () => await takeTime(1)
        )
      }
    }
    await Promise.all([gateway.start(), change(), change(), change()])
    const stream = await listen(session)
    await stream.until(messages => messages.length >= changes, 3_000).catch(() => {})
    t.equal(stream.messages.length, changes)
    stream.drop()
  })

  t.test('an answer to a request from before the kill does not answer one from after it', async t => {
    const gateway = await gatewayOn(t)
    await gateway.start()
    const session = await openSession(gateway.url, '2025-06-18', { elicitation: {} })
    for (const content of ['first', 'second']) await session.post(call(1, 'add_note', { content }))
    const before = new Reading(await session.stream(call(2, 'delete_note', { id: '1' })))
    await before.until(messages => messages.length > 0)
    await gateway.restart()
    const after = new Reading(await session.stream(call(3, 'delete_note', { id: '2' })))
    await after.until(messages => messages.length > 0)
    t.match(
      [before, after].map(({ messages }) => messages[0]?.message),
      [{ params: { message: /note 1/ } }, { params: { message: /note 2/ } }]
    )
    const yes = { result: { action: 'accept', content: { confirm: true } } }
    await session.post({ id: before.messages[0]?.message.id, ...yes })
    t.match(
      (await session.post(call(4, 'get_notes'))).body,
      { result: { structuredContent: { notes: [{ id: '2' }, { id: '1' }] } } },
      'nothing was deleted'
    )
    await session.post({ id: after.messages[0]?.message.id, ...yes })
    await after.over
    t.match(
      after.messages.at(-1)?.message,
      { id: 3, result: { structuredContent: { id: '2', deleted: true } } },
      'the right answer is taken'
    )
  })

  t.test('a server without data knows no session after a restart', async t => {
    const gateway = await gatewayOn(t, ['--ephemeral'])
    await gateway.start()
    const session = await openSession(gateway.url)
    t.equal(await ping(session), 200)
    await gateway.restart()
    t.equal(await ping(session), 404)
    t.equal((await post(gateway.url, { id: 1, method: 'initialize', params: {} })).status, 200)
  })

  t.test('a session that has been idle for too long is not brought back', async t => {
    const gateway = await gatewayOn(t, [], { PATCHBAY_SESSION_IDLE: '3000000' })
    await gateway.start()
    const session = await openSession(gateway.url)
    await gateway.restart()
    t.equal(await ping(session), 200)
    await gateway.end('SIGKILL')
    // The clock of the next process is an hour ahead.
    gateway.env['NODE_OPTIONS'] = '--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+3600000'
    await gateway.start()
    t.equal(await ping(session), 404)
  })

  t.test(
    'two servers share a folder: both serve a session, and its stream is where its client last opened it',
    async t => {
      const first = await gatewayOn(t)
      const second = new Gateway(t, await freePort(), first.data)
      await Promise.all([first.start(), second.start()])
      const here = await openSession(first.url)
      const there = new HttpSession(second.url, here.id)
      const stream = await watching(here)
      await count(second.url)
      await stream.until(messages => messages.length === 1)

      t.equal(await ping(there), 200)
      await count(first.url)
      await stream.until(messages => messages.length === 2)
      const resumed = await listen(there, stream.lastId)
      await count(second.url)
      await resumed.until(messages => messages.length === 1)
      await count(first.url)
      await resumed.until(messages => messages.length === 2)
      t.strictSame(
        resumed.messages.map(({ id }) => id),
        ['0-3', '0-4'],
        'each change is announced once'
      )
      t.equal(stream.messages.length, 2, 'and not to the connection before')

      t.equal(await ping(here), 200)
      t.equal(await there.end(), 200)
      await resumed.over
      t.equal(await ping(there), 404)
      await until(async () => (await ping(here)) === 404, 'one that was ended at one is ended at both')
    }
  )
})
