import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { postHead } from '../support/http-requests.js'
import { initialize } from '../support/messages.js'
import { request } from '../support/http-client.js'
import { openSocket } from '../support/websocket-client.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { summarise } from '../support/summary.js'
import { stdioConnection } from '../support/connections.js'

const LIMIT = 4 * 1024 * 1024
const MAY_HOLD = 2 * LIMIT
const PIECES = 100_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('the parts of an incomplete message take at most twice the largest message', async t => {
  const server = await startServer(t)

  await t.test('a body in chunks of one byte', async t => {
    const head = request('POST', '/message', postHead(server.port, [['Transfer-Encoding', 'chunked']]))
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(PIECES))
    await holds(t, async () => await sendAndWait(server, [head, chunks]))
    await expectUnharmed(t, server)
  })

  await t.test('a line that arrives a byte at a time', async t => {
    const connection = await stdioConnection(server)
    await holds(t, async () => {
      for (let sent = 0; sent < PIECES; sent++) {
        connection.raw(Buffer.from([120]))
        if (sent % 1_000 === 0) await new Promise(resolve => setImmediate(resolve))
      }
      return async () => { connection.raw('\n'); await connection.close() }
    })
    await expectUnharmed(t, server)
  })

  await t.test('J11: a line of 50 MB', async t => {
    const connection = await stdioConnection(server)
    await connection.write(initialize())
    await connection.inbox.next()
    await holds(t, async () => {
      for (let sent = 0; sent < 800; sent++) {
        connection.raw(Buffer.alloc(65_536, 'x'))
        await new Promise(resolve => setImmediate(resolve))
      }
      return async () => { connection.raw('\n') }
    })
    await connection.write(initialize())
    t.strictSame(
      [summarise(await connection.inbox.next()), summarise(await connection.inbox.next())],
      ['-32600 id null', 'ok id 0']
    )
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('the parts of a frame, and the frames of a message', async t => {
    const socket = await openSocket(server.port)
    const { maxBufferedChunks = Infinity, maxFragments = Infinity } = server.app.websocketServer.options as {
      maxBufferedChunks?: number
      maxFragments?: number
    }
    t.ok(
      maxBufferedChunks <= 8_192 && maxFragments <= 256,
      `at most ${maxBufferedChunks} parts and ${maxFragments} frames`
    )
    await socket.close()
  })
})

/**
 * Compares what is in memory before and while something waits. Buffers are swept beside the program, so it may take
 * some rounds until all are counted.
 */
async function holds (t: Test, begin: () => Promise<() => Promise<void>>): Promise<void> {
  const before = Math.min(await used(), await used())
  const end = await begin()
  let grown = Infinity
  await until(async () => {
    grown = await used() - before
    return grown <= MAY_HOLD
  }, 'the end of the sweep', 10_000, 20).catch(() => {})
  t.ok(grown <= MAY_HOLD, `${(grown / 1024 / 1024).toFixed(1)} MB wait`)
  await end()
}

async function used (): Promise<number> {
  collect()
  await turn()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Sends all of it and waits until the server has read it; gives back how to hang up. */
async function sendAndWait ({ app, port }: Server, parts: Buffer[]): Promise<() => Promise<void>> {
  let served: Socket | undefined
  app.server.once('connection', (socket: Socket) => { served = socket })
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  for (const part of parts) socket.write(part)
  await until(() => served !== undefined && (served.bytesRead >= size || served.destroyed), 'the arrival of the body')
  return async () => {
    socket.destroy()
    await until(() => served?.destroyed === true, 'the end of the connection')
  }
}
