import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../../app.js'
import { request, type Head } from '../../support/http-client.js'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { bestTime, timeOf } from '../../support/timing.js'

const HEAD: Head = [['Host', 'localhost'], ['Content-Type', 'application/json']]
const call = (name: string, args: object = {}) =>
  request(
    'POST',
    '/message',
    HEAD,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  )
const portOf = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port
const connections = async ({ server }: FastifyInstance): Promise<number> =>
  await new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  )
const large = tool({ name: 'large', description: 'Says a lot', run: () => 'x'.repeat(8_000_000) })

t.test('pipelined requests beyond the limit are refused, those before are answered', async t => {
  const { app } = await listening(t, { limits: { maxPipelined: 3 } })
  const socket = connect(portOf(app), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => { received += String(chunk) })
  socket.write(Buffer.concat(Array.from({ length: 6 }, () => call('slow', { steps: 1, delay: 50 }))))
  await until(() => received.split('HTTP/1.1').length === 7)
  t.strictSame(
    [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '200', '429', '429', '429']
  )
  t.match(received, /retry-after: 1/)
  socket.write(call('echo', { text: 'again' }))
  await until(() => received.includes('again'))
})

t.test('a client that reads nothing of a reply is cut off, a slow one is not', async t => {
  // Long enough that the slow client reads something in time on a busy machine, too.
  const { app } = await listening(t, {
    limits: { writeDeadline: 3_000 },
    plugins: [
      async app => {
        app.mcp.tools.add(large)
      }
    ]
  })
  const [idle, slow] = [connect(portOf(app), '127.0.0.1'), connect(portOf(app), '127.0.0.1')]
  t.teardown(() => { idle.destroy(); slow.destroy() })
  idle.pause().write(call('large'))
  let received = 0
  slow.on('data', chunk => {
    received += chunk.length
    slow.pause()
    setTimeout(() => slow.resume(), 5)
  })
  slow.write(call('large'))
  await until(() => received > 8_000_000)
  slow.end()
  await until(async () => await connections(app) === 0)
})

t.test('a handler that takes longer than the write deadline is answered, on a reused connection too', async t => {
  const { app } = await listening(t, { limits: { writeDeadline: 100 } })
  const socket = connect(portOf(app), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => { received += String(chunk) })
  socket.write(Buffer.concat([call('echo', { text: 'quick' }), call('slow', { steps: 1, delay: 400 })]))
  await until(() => received.includes('1 steps'))
  t.match(received, /quick/)
  const left = once(socket, 'close')
  socket.end()
  await left
})

t.test('a body whose client is gone does not delay closing', async t => {
  for (const [method, url] of [['PUT', '/mcp'], ['GET', '/health'], ['POST', '/nowhere']] as const) {
    const took = await bestTime(5_000, async () => {
      const { app } = await listening(t, { grace: 500 })
      const socket = connect(portOf(app), '127.0.0.1')
      t.teardown(() => socket.destroy())
      socket.on('error', () => {})
      socket.write(`${method} ${url} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"json`)
      await once(socket, 'data')
      return await timeOf(async () => await app.close())
    })
    t.ok(took < 5_000, `${method} ${url}: ${took} ms`)
  }
})
