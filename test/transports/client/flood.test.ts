import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import { encodeNotification } from '../../../protocol/wire/jsonrpc.js'
import { answerHandshake, connect, end, event, resultOf, sendJson, startEvents, startRawServer } from './raw-server.js'
import { bestTime, timeOf } from '../../support/timing.js'
import { until } from '../../support/wait.js'
import { countPongs } from '../../support/websocket-client.js'
import type { LinkRecorder } from './link-recorder.js'

/** 100 messages, each of which counts as nine: 900 in all, where 100 may come in a tenth of a second. */
const LIMITS = { maxUnasked: 1_000 }
const FLOOD = Array.from({ length: 100 }, () =>
  encodeNotification('notifications/message', { level: 'info', data: 'x'.repeat(8_192) })
)
const LAST = encodeNotification('notifications/last')
/** The time that the flood takes at least, with one chunk of 64 KiB that is read before the pause. */
const LEAST = 400

/** Servers that send the flood, and the last notification after it, when they get the request `flood`. */
const servers: Record<string, (t: Test) => Promise<LinkRecorder>> = {
  'the stream of a call': async t => {
    const { url } = await startRawServer(t, got =>
      got.message.method === 'flood'
        ? startEvents(got).end([...FLOOD, LAST, resultOf(got)].map(text => event(text)).join('')) !== undefined
        : answerHandshake(got) || sendJson(got, resultOf(got))
    )
    return await connect(t, 'http', url, LIMITS)
  },
  'the stream for what belongs to no call': async t => {
    let stream: ReturnType<typeof startEvents> | undefined
    const { url } = await startRawServer(t, got => {
      if (got.method === 'GET') stream = startEvents(got)
      if (got.message.method === 'flood') stream?.write([...FLOOD, LAST].map(text => event(text)).join(''))
      return got.method === 'GET' || answerHandshake(got, { listens: true }) || sendJson(got, resultOf(got))
    })
    const recorder = await connect(t, 'http', url, LIMITS)
    await recorder.initialize()
    return recorder
  },
  'HTTP+SSE': async t => {
    let stream: ReturnType<typeof startEvents> | undefined
    const { url } = await startRawServer(t, got => {
      if (got.method === 'GET') (stream = startEvents(got)).write('event: endpoint\ndata: /post\n\n')
      else {
        stream?.write(
          [...(got.message.method === 'flood' ? [...FLOOD, LAST] : []), resultOf(got)].map(text => event(text)).join('')
        )
      }
      return got.method === 'GET' || end(got, 202)
    })
    return await connect(t, 'sse', url, LIMITS)
  },
  'a WebSocket': async t => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    t.teardown(() => { server.close() })
    await once(server, 'listening')
    server.on('connection', socket => socket.on('message', data => {
      const { id, method } = JSON.parse(String(data)) as { id: number, method: string }
      for (const text of [
        ...(method === 'flood' ? [...FLOOD, LAST] : []),
        JSON.stringify({ jsonrpc: '2.0', id, result: {} })
      ]) {
        socket.send(text)
      }
    }))
    return await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, LIMITS)
  }
}

for (const [where, start] of Object.entries(servers)) {
  t.test(
    `a flood of messages that no request asked for is read slowly from ${where}, and nothing of it is lost`,
    async t => {
      const recorder = await start(t)
      const begun = performance.now()
      const { id } = recorder.send('flood')
      await recorder.message('notifications/last')
      const taken = Math.round(performance.now() - begun)
      t.ok(taken >= LEAST, `it took ${taken} ms`)
      t.match(await recorder.outcome(id), { what: 'message' }, 'the request is answered')
      t.match(await recorder.ask('other'), { what: 'message' }, 'and so are others')
    }
  )
}

t.test('lines of data without end are read slowly, whole and within one event', async t => {
  const { url } = await startRawServer(
    t,
    got => startEvents(got).end(`${event(resultOf(got)).trimEnd()}\n${'data\n'.repeat(30_000)}\n`) !== undefined
  )
  const recorder = await connect(t, 'http', url, LIMITS)
  const begun = performance.now()
  t.match(await recorder.ask('tools/call'), { what: 'message' })
  t.ok(performance.now() - begun >= LEAST, 'it is read slowly')
})

/** An upstream that sends these frames as soon as a client is there. */
async function startFrames (t: Test, frames: Buffer): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => { for (const socket of server.clients) socket.terminate(); server.close() })
  await once(server, 'listening')
  server.on('connection', (_socket, request) => { request.socket.on('error', () => {}).write(frames) })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const control: Record<string, Buffer> = {
  pings: Buffer.from([0x89, 0]),
  pongs: Buffer.from([0x8a, 0]),
  'long pings': Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125)])
}
for (const [what, frame] of Object.entries(control)) {
  t.test(`a WebSocket server that floods with ${what} is disconnected, in words, without any request`, async t => {
    const recorder = await connect(t, 'websocket', await startFrames(t, Buffer.alloc(frame.length * 1_000, frame)))
    t.match(await recorder.reports.take('the end', ({ what }) => what === 'closed'), {
      why: 'it sent more than 100 pings or pongs in a second (limit maxPings)'
    })
  })
}

t.test('a flood of pings of a WebSocket server costs no answer for each', async t => {
  const answered = countPongs(t)
  const recorder = await connect(t, 'websocket', await startFrames(t, Buffer.alloc(20_000, Buffer.from([0x89, 0]))))
  await recorder.reports.take('the end', ({ what }) => what === 'closed')
  t.equal(answered(), 101)
})

t.test('a few pings of a WebSocket server are answered, each', async t => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  let pongs = 0
  server.on('connection', socket => {
    socket.on('pong', () => { pongs++ })
    for (let count = 0; count < 10; count++) socket.ping()
  })
  await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await until(() => pongs === 10, 'the pongs')
})

t.test('messages of one chunk of a WebSocket are worked off in several turns, in their order', async t => {
  const text = Buffer.from('{}')
  const frame = Buffer.concat([Buffer.from([0x81, text.length]), text])
  const recorder = await connect(t, 'websocket', await startFrames(t, Buffer.alloc(frame.length * 2_000, frame)))
  let inTurn = 0
  let most = 0
  let all = 0
  recorder.events.message = () => {
    if (inTurn++ === 0) setImmediate(() => { inTurn = 0 })
    most = Math.max(most, inTurn)
    all++
    return false
  }
  await until(() => all === 2_000, 'all messages')
  t.ok(most <= 200, `${most} in one turn`)
})

t.test('comments, ids and empty lines of an event stream count, too', async t => {
  const { url } = await startRawServer(
    t,
    got =>
      startEvents(got).end(
        `${': nothing at all\n'.repeat(10_000)}${'id: 1\n'.repeat(10_000)}${'\n'.repeat(10_000)}${event(resultOf(got))}`
      ) !== undefined
  )
  const recorder = await connect(t, 'http', url, LIMITS)
  const begun = performance.now()
  t.match(await recorder.ask('tools/call'), { what: 'message' })
  t.ok(performance.now() - begun >= LEAST, 'it is read slowly')
})

/** Most of what the rest of the flood would take. */
const AT_ONCE = 400

for (const [where, start] of Object.entries(servers)) {
  t.test(`a link that is closed during a flood is closed at once: ${where}`, async t => {
    const took = await bestTime(AT_ONCE, async () => {
      const recorder = await start(t)
      recorder.send('flood')
      await recorder.message('notifications/message')
      return await timeOf(() => recorder.link.close())
    })
    t.ok(took < AT_ONCE, `after ${Math.round(took)} ms`)
  })
}
