import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, patchbay, type Options } from '../../../app.js'
import { inTime, until } from '../../support/wait.js'

const CHUNK = Buffer.alloc(65_536, 'x')

/** A stream of so many bytes, and what is known of it. */
function bytes (size: number): { stream: Readable, given: () => number, isClosed: () => boolean } {
  let [given, isClosed] = [0, false]
  const stream = new Readable({
    read () {
      given += CHUNK.length
      this.push(given > size ? null : CHUNK)
    }
  }).on('close', () => { isClosed = true })
  return { stream, given: () => given, isClosed: () => isClosed }
}

/** Event streams that end only with their clients. */
function endless (reply: FastifyReply): { isClosed: () => boolean } {
  let isClosed = false
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  reply.raw.on('close', () => { isClosed = true })
  return { isClosed: () => isClosed }
}

async function serving (t: Test, routes: (app: FastifyInstance) => void, options: Partial<Options> = {}) {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai', grace: 100, routes: { include: ['/own/*'] }, ...options })
  routes(app)
  await app.ready()
  const client = await createClient(app)
  t.teardown(() => client.close())
  return { app, client }
}

t.test('a reply of 100 MB is read up to the limit, and its stream is ended', async t => {
  const large = bytes(100_000_000)
  const { client } = await serving(t, app => {
    app.get('/own/large', (_request, reply) => { void reply.type('text/plain').send(large.stream) })
    app.get('/own/fits', (_request, reply) => { void reply.type('text/plain').send(bytes(900_000).stream) })
  }, { limits: { maxUpstreamMessage: 1_000_000 } })
  await t.rejects(client.call('get_own_large', {}), /HTTP 200: the reply of the route has more than 1000000 bytes \(limit maxUpstreamMessage\)/)
  await until(large.isClosed, 'the end of the stream')
  t.ok(large.given() < 3_000_000, `${large.given()} bytes were made`)
  const { content: [{ text = '' } = {}] } = await client.call('get_own_fits', {}) as { content: Array<{ text?: string }> }
  t.equal(text.length, 13 * CHUNK.length)
})

t.test('of a failure that does not end, the beginning is read', async t => {
  const large = bytes(Infinity)
  const { client } = await serving(t, app => {
    app.get('/own/failure', (_request, reply) => { void reply.code(500).type('text/plain').send(large.stream) })
  })
  await t.rejects(client.call('get_own_failure', {}), /HTTP 500 Internal Server Error\nx{4096}…/)
  await until(large.isClosed, 'the end of the stream')
})

t.test('a call that is cancelled, or takes too long, ends the reply that the route is at', async t => {
  const streams: Array<{ isClosed: () => boolean }> = []
  const { client } = await serving(t, app => {
    app.get('/own/events', (_request, reply) => { streams.push(endless(reply)) })
  }, { callTimeout: 200 })
  const abort = new AbortController()
  const cancelled = client.call('get_own_events', {}, { signal: abort.signal })
  cancelled.catch(() => {})
  await until(() => streams.length === 1, 'the reply')
  abort.abort()
  await t.rejects(inTime(cancelled, 'the end of the call'))
  await until(() => streams[0]?.isClosed() === true, 'the end of the first reply')
  await t.rejects(inTime(client.call('get_own_events', {}), 'the time limit'), /given up after \d+ ms/)
  await until(() => streams[1]?.isClosed() === true, 'the end of the second reply')
})

t.test('a reply that breaks off is a failed result', async t => {
  const { client } = await serving(t, app => {
    app.get('/own/broken', (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/plain' }).write('half')
      reply.raw.destroy(new Error('gone'))
    })
  })
  await t.rejects(client.call('get_own_broken', {}), /HTTP 200: the route ended its reply before it was complete/)
})
