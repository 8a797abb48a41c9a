import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Options } from '../../../app.js'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { HttpSession, openSession, post, slow } from '../../support/http-session.js'
import type { Json } from '../../support/event-reader.js'

const LONG = 600_000
const ENDED = {
  error: {
    code: -32603,
    message: /^The session was ended .*before the call was answered; whether it took effect is not known$/
  }
}

/** A call that lasts for ever: silent, or with one word before it. */
const silent = (id: number) => slow(id, 1, LONG, '')
const spoken = (id: number) => ({ id, method: 'tools/call', params: { name: 'talkative', arguments: {} } })

interface Server { app: FastifyInstance, url: string, finish: () => void }

async function serve (t: Test, options: Partial<Options> = {}): Promise<Server> {
  const server = await listening(t, options)
  let finish = () => {}
  server.app.mcp.tools.add(tool({
    name: 'talkative',
    description: 'Says something and goes on until it is aborted or finished',
    run: async (_input, call) => {
      call.log('error', 'begun')
      await new Promise<void>((resolve, reject) => {
        finish = resolve
        call.signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    }
  }))
  return { ...server, finish: () => finish() }
}

async function pair (t: Test): Promise<[Server, Server]> {
  const data = await dataFolder(t)
  return [await serve(t, { data }), await serve(t, { data })]
}

const inFlight = async ({ app }: Server, { id }: HttpSession, count = 1) =>
  await until(() => app.mcp.sessions.find(id)?.peer.inbound.size === count)

t.test('a call in flight goes on while another server serves its session', async t => {
  const [one, two] = await pair(t)
  const session = await openSession(one.url)
  const answer = session.post(slow(7, 1, 300, ''))
  await inFlight(one, session)
  t.equal((await new HttpSession(two.url, session.id).post({ id: 1, method: 'ping' })).status, 200)
  t.match(await answer, { status: 200, body: { id: 7, result: {} } })
})

t.test('a call with a stream is answered once, where its client resumed the stream', async t => {
  const [one, two] = await pair(t)
  const session = await openSession(one.url)
  const stream = await session.stream(spoken(7))
  let last = ''
  for (let event = await stream.event(); event !== undefined; event = await stream.event()) {
    last = event.id ?? last
    if (event.data?.includes('begun') === true) break
  }
  const elsewhere = new HttpSession(two.url, session.id)
  const resumed = await elsewhere.listen(last)
  one.finish()
  const rest = (await resumed.rest()).map(({ data = '' }) => data).filter(data => data !== '')
  t.match(rest.map(data => JSON.parse(data) as Json), [{ id: 7, result: {} }])
  t.strictSame(
    (await stream.rest()).filter(({ data = '' }) => data.includes('"id":7')),
    [],
    'the first server leaves the answer to the second'
  )
})

t.test('calls in flight are answered with errors when the client ends its session', async t => {
  for (const data of [undefined, await dataFolder(t)]) {
    const server = await serve(t, data === undefined ? {} : { data })
    const session = await openSession(server.url)
    const answers = [7, 8].map(async id => await session.post(silent(id)))
    const stream = await session.stream(spoken(9))
    await inFlight(server, session, 3)
    t.ok((await session.end()) < 300)
    t.match(await Promise.all(answers), [
      { status: 200, body: { id: 7, ...ENDED } },
      { status: 200, body: { id: 8, ...ENDED } }
    ])
    t.match(JSON.parse((await stream.rest()).at(-1)?.data ?? ''), { id: 9, ...ENDED }, 'at the end of the stream')
    t.equal((await session.post({ id: 10, method: 'ping' })).status, 404)
  }
})

t.test('a call in flight is answered with an error when the session is ended at another server', async t => {
  const [one, two] = await pair(t)
  const session = await openSession(one.url)
  const answer = session.post(silent(7))
  await inFlight(one, session)
  t.ok((await new HttpSession(two.url, session.id).end()) < 300)
  t.match(await answer, { status: 200, body: { id: 7, ...ENDED } })
  t.equal((await session.post({ id: 8, method: 'ping' })).status, 404)
})

t.test('every request of a batch in flight is answered when the session ends', async t => {
  const server = await serve(t)
  const session = await openSession(server.url, '2025-03-26')
  const messages = [
    silent(7),
    { method: 'notifications/cancelled', params: { requestId: 'none' } },
    silent(8),
    { id: 9, method: 'ping' }
  ].map(message => ({ jsonrpc: '2.0', ...message }))
  const answer = fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session.headers },
    body: JSON.stringify(messages)
  })
  await inFlight(server, session, 2)
  await session.end()
  t.match(await (await answer).json(), [{ id: 7, ...ENDED }, { id: 8, ...ENDED }, { id: 9, result: {} }])
})

t.test('calls that cross each other at two servers all get an answer, and none is empty', async t => {
  const [one, two] = await pair(t)
  const session = await openSession(one.url)
  const statuses: number[] = []
  for (let round = 0; round < 21; round++) {
    const answers = await Promise.all(
      [one, two].map(async ({ url }, index) => await post(url, slow(round * 2 + index, 1, 5, ''), session.headers))
    )
    for (const [index, { status, body }] of answers.entries()) {
      statuses.push(status)
      t.equal(body.id, round * 2 + index)
      t.ok('result' in body || 'error' in body)
    }
  }
  t.strictSame(statuses.filter(status => status !== 200), [])
})
