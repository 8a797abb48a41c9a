import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, tool } from '../../app.js'
import { initializeParams } from '../../protocol/revisions/client-side.js'
import { listening } from '../support/gateway.js'
import { nextEvent, until } from '../support/wait.js'

const MiB = 1024 * 1024
const REQUESTS = 100
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: initializeParams({ name: 'slow', version: '1' }, {})
}
const list = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Clients that ask for the list again and again and read none of it. */
const clients: Record<string, (t: Test, url: string) => Promise<void>> = {
  WebSocket: async (t, url) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, 'mcp')
    t.teardown(() => socket.terminate())
    socket.on('error', () => {})
    await nextEvent(socket, 'open')
    socket.send(JSON.stringify(INITIALIZE))
    await nextEvent(socket, 'message')
    socket.pause()
    for (let id = 0; id < REQUESTS; id++) socket.send(list(id))
  },
  'HTTP+SSE': async (t, url) => {
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    t.teardown(() => { socket.destroy() })
    socket.on('error', () => {})
    socket.write('GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n')
    let read = ''
    socket.on('data', bytes => { read += String(bytes) })
    await until(() => /data: (\S+)/.test(read), 'the endpoint')
    const endpoint = new URL(/data: (\S+)/.exec(read)?.[1] ?? '', url)
    const post = async (body: string): Promise<unknown> =>
      await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
        async reply => await reply.text(),
        () => {}
      )
    await post(JSON.stringify(INITIALIZE))
    await until(() => read.includes('serverInfo'), 'the handshake')
    socket.pause()
    for (let id = 0; id < REQUESTS; id++) await post(list(id))
  }
}

for (const [transport, ask] of Object.entries(clients)) {
  t.test(
    `${transport}: a client that reads no page of 4 MiB is cut, and costs neither others nor much memory`,
    async t => {
      const { app, url } = await listening(t, { tools: false, limits: { writeDeadline: 2_000 } })
      for (let number = 0; number < 950; number++) {
        app.mcp.tools.add(tool({ name: `tool_${number}`, description: 'x'.repeat(4_096), run: () => '' }))
      }
      const other = await createClient(app)
      t.ok(JSON.stringify(await other.request('tools/list')).length > 3.5 * MiB, 'a page is that long')
      const before = inUse()
      const peers = app.mcp.dispatcher.lifecycle.peers.size
      let [most, served] = [0, 0]
      await ask(t, url)
      await until(
        async () => {
          await other.call('tool_7')
          served++
          most = Math.max(most, inUse() - before)
          return isGone(app, peers)
        },
        'the end of the slow client',
        60_000
      )
      t.ok(served > 0, 'others are served')
      t.ok(
        most < 128 * MiB,
        `memory grew by ${Math.round(most / MiB)} MiB, of ${Math.round(REQUESTS * 3.8)} that were asked for`
      )
    }
  )
}

const isGone = ({ mcp }: FastifyInstance, before: number): boolean => mcp.dispatcher.lifecycle.peers.size <= before

function inUse (): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
