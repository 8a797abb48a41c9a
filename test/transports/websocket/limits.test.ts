import { once } from 'node:events'
import t from 'tap'
import WebSocket from 'ws'
import { stopTime, turnable } from '../../support/clocks.js'
import { until } from '../../support/wait.js'
import { call, initialize } from '../../support/messages.js'
import { countPongs, frame, openSocket, OPCODE, type RawSocket } from '../../support/websocket-client.js'
import { expectUnharmed, startServer } from '../../support/server.js'
import { summarise } from '../../support/summary.js'

const { text, continuation, ping, pong } = OPCODE
const PING = call('ping')('legacy')
const start = frame({ opcode: text, payload: '{"jsonrpc"', fin: false })

async function initializedSocket (port: number): Promise<RawSocket> {
  const socket = await openSocket(port)
  socket.send(initialize())
  await socket.inbox.next()
  return socket
}

/** One message in so many frames. */
function pieces (count: number): Buffer {
  const size = Math.ceil(PING.length / count)
  return Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      frame({
        opcode: index === 0 ? text : continuation,
        payload: PING.slice(index * size, (index + 1) * size),
        fin: index === count - 1
      })
    )
  )
}

t.test('a message in as many fragments as allowed is read, one more closes the socket', async t => {
  const server = await startServer(t, { limits: { maxFragments: 3 } })
  const [good, bad] = [await initializedSocket(server.port), await initializedSocket(server.port)]
  good.write(pieces(3))
  t.equal(summarise(await good.inbox.next()), 'ok id 7')
  bad.write(pieces(4))
  t.equal(summarise(await bad.inbox.next()), 'close 1008')
  good.send(PING)
  t.equal(summarise(await good.inbox.next()), 'ok id 7', 'the other goes on')
  await good.close()
  await expectUnharmed(t, server)
})

const DAWDLERS: Array<[what: string, bytes: Buffer, drip: () => Buffer]> = [
  ['never sends the rest', start, () => Buffer.alloc(0)],
  ['sends pings in between', start, () => frame({ opcode: ping, payload: '' })],
  [
    'sends a byte now and then',
    frame({ opcode: text, payload: PING.padEnd(10_000) }).subarray(0, 20),
    () => Buffer.from(' ')
  ],
  ['sends empty fragments now and then', start, () => frame({ opcode: continuation, payload: '', fin: false })],
  ['does not even send a whole header', start.subarray(0, 1), () => Buffer.alloc(0)],
  ['does not send a whole ping', frame({ opcode: ping, payload: 'xxxx' }).subarray(0, 8), () => Buffer.alloc(0)]
]

t.test('a message that is not complete in time closes its socket', async t => {
  const server = await startServer(t, { limits: { assemblyTimeout: 150 } })
  for (const [what, bytes, drip] of DAWDLERS) {
    await t.test(`of a client that ${what}`, async t => {
      const [socket, other] = [await initializedSocket(server.port), await initializedSocket(server.port)]
      const dripping = setInterval(() => socket.write(drip()), 20)
      t.teardown(() => clearInterval(dripping))
      socket.write(bytes)
      t.equal(summarise(await socket.inbox.next()), 'close 1008')
      other.send(PING)
      t.equal(summarise(await other.inbox.next()), 'ok id 7', 'others are served')
      await other.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('but not that of a client that is slow within the time, or that sends nothing for a while', async t => {
    // Each message, and each pause after one, takes nearly as long as a message may.
    const { pass } = stopTime(t)
    const { port, sockets } = await startServer(t, { limits: { assemblyTimeout: 1_500, heartbeat: 600_000 } })
    const socket = await initializedSocket(port)
    const [served] = sockets
    for (let times = 0; times < 3; times++) {
      const size = (served?.bytesRead ?? 0) + start.length
      socket.write(start)
      await until(() => served?.bytesRead === size, 'the first part')
      await pass(1_400)
      socket.write(frame({ opcode: continuation, payload: PING.slice(10) }))
      t.equal(summarise(await socket.inbox.next()), 'ok id 7')
      await pass(1_400)
    }
    await pass(5_000)
    socket.send(PING)
    t.equal(summarise(await socket.inbox.next()), 'ok id 7')
    await socket.close()
  })
})

for (const [name, opcode] of [['pings', ping], ['pongs', pong]] as const) {
  t.test(`as many ${name} in a second as allowed are fine, one more closes the socket`, async t => {
    const clock = turnable(t)
    const server = await startServer(t, { limits: { maxPings: 50 } })
    const [good, bad] = [await initializedSocket(server.port), await initializedSocket(server.port)]
    const flood = (count: number) => Buffer.concat(new Array<Buffer>(count).fill(frame({ opcode, payload: 'x' })))
    good.write(flood(50))
    good.send(PING)
    t.equal(summarise(await good.inbox.next()), 'ok id 7')
    bad.write(flood(51))
    bad.send(PING)
    t.equal(summarise(await bad.inbox.next()), 'close 1008')
    clock.later += 1_000
    good.write(flood(50))
    good.send(PING)
    t.equal(summarise(await good.inbox.next()), 'ok id 7', 'the next second is a new one')
    await good.close()
    await expectUnharmed(t, server)
  })
}

t.test(
  'a flood of pings costs no answer for each: none is written, or refused with an error, once the socket is being closed',
  async t => {
    const answered = countPongs(t)
    const server = await startServer(t, { limits: { maxPings: 50 } })
    const socket = await initializedSocket(server.port)
    socket.write(Buffer.concat(new Array<Buffer>(10_000).fill(frame({ opcode: ping, payload: '' }))))
    t.equal(summarise(await socket.inbox.next()), 'close 1008')
    await until(() => server.sockets.size === 0, 'the end of the connection')
    t.equal(answered(), 51)
    await expectUnharmed(t, server)
  }
)

t.test('a client that does not answer a close frame is disconnected all the same', async t => {
  const server = await startServer(t, { limits: { maxPings: 5 } })
  // Reads nothing that comes and never answers a close frame.
  const socket = await initializedSocket(server.port)
  socket.pause()
  socket.write(Buffer.concat(new Array<Buffer>(50).fill(frame({ opcode: ping, payload: 'x' }))))
  await until(() => server.app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the peer')
  await until(() => server.sockets.size === 0, 'the end of the connection')
  await socket.close()
  await expectUnharmed(t, server)
})

t.test('a client that sends a close frame and stays connected is disconnected, too', async t => {
  const server = await startServer(t)
  const socket = await initializedSocket(server.port)
  socket.pause()
  socket.write(frame({ opcode: OPCODE.close, payload: '' }))
  await until(() => server.app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the peer')
  await until(() => server.sockets.size === 0, 'the end of the connection')
  await socket.close()
})

t.test('a server busy for longer than its heartbeat cuts no client that has answered', async t => {
  const server = await startServer(t, { limits: { heartbeat: 200 } })
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/mcp`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  await once(socket, 'ping')
  // The answer has been sent, and waits in the socket while nothing is read.
  const end = performance.now() + 500
  while (performance.now() < end);
  await once(socket, 'ping')
  t.equal(socket.readyState, WebSocket.OPEN)
  t.equal(server.app.mcp.dispatcher.lifecycle.peers.size, 1)
})

t.test('a message nested deeper than the stack allows is refused, and the server goes on', async t => {
  const server = await startServer(t, { limits: { maxDepth: 1_000_000, maxKeys: 1_000_000, maxValues: 1_000_000 } })
  const socket = await initializedSocket(server.port)
  socket.send(`{"jsonrpc":"2.0","id":7,"method":"ping","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`)
  t.equal(summarise(await socket.inbox.next()), '-32700 id 7')
  socket.send(PING)
  t.equal(summarise(await socket.inbox.next()), 'ok id 7')
  await socket.close()
  await expectUnharmed(t, server)
})
