import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { initializeParams } from '../../protocol/revisions/client-side.js'
import { META } from '../../protocol/wire/meta.js'
import { modern } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { inTime, until } from '../support/wait.js'
import { withBystanders } from './hostile/bystanders.js'

/** A server whose tool `attack` sends 100,000 times progress of 1 KiB. */
const bad = {
  command: process.execPath,
  args: [fileURLToPath(new URL('hostile/program.js', import.meta.url)), 'much progress'],
  timeout: 20_000
}
/** The first, so that the server itself is not slowed down. */
const options = { limits: { maxUpstreamUnasked: 1_000_000, writeDeadline: 3_000 } }

const self = {
  [META.version]: modern.version,
  [META.clientInfo]: { name: 'slow', version: '1' },
  [META.capabilities]: {}
}
const attack = (meta: object): object => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'bad__attack', arguments: {}, _meta: { progressToken: 'p', ...meta } }
})

/**
 * Clients that begin the call and read nothing of what comes then. Each gives a function that tells whether it was cut.
 */
const clients: Record<string, (t: Test, port: number) => Promise<() => boolean>> = {
  'a stateless HTTP client': async (t, port) => {
    const socket = await open(t, port)
    post(socket, attack(self), {
      'mcp-protocol-version': modern.version,
      'mcp-method': 'tools/call',
      'mcp-name': 'bad__attack'
    })
    return cutting(socket)
  },
  'an HTTP client with a session': async (t, port) => {
    const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify(INITIALIZE)
    })
    await reply.text()
    const socket = await open(t, port)
    post(socket, attack({}), { 'mcp-session-id': String(reply.headers.get('mcp-session-id')) })
    return cutting(socket)
  },
  'a WebSocket client': async (t, port) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, 'mcp')
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify(INITIALIZE))
    await once(socket, 'message')
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    socket.send(JSON.stringify(attack({})))
    socket.pause()
    return () => { socket.resume(); return socket.readyState === WebSocket.CLOSED }
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: initializeParams({ name: 'slow', version: '1' }, {})
}

for (const [who, begin] of Object.entries(clients)) {
  t.test(`${who} that reads nothing of much progress is cut, and costs neither others nor much memory`, async t => {
    const { app, client, check } = await withBystanders(t, bad, options)
    await inTime(upstreamsReady(app, ['bad']), 'the start of the server')
    const isCut = await begin(t, (app.server.address() as AddressInfo).port)
    await until(async () => {
      const { content } = (await client.request('tools/call', { name: 'bad__fine', arguments: {} })) as {
        content: Array<{ text: string }>
      }
      return (JSON.parse(content[0]?.text ?? '') as Record<string, number>).flooded === 1
    }, 'the end of the flood')
    await check()
    await until(isCut, 'the end of the slow client')
  })
}

async function open (t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

// Without a listener for data nothing is read.
function post (socket: Socket, message: object, headers: Record<string, string>): void {
  const body = JSON.stringify(message)
  const lines = Object.entries({
    host: '127.0.0.1',
    ...HEADERS,
    ...headers,
    'content-length': String(Buffer.byteLength(body))
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

function cutting (socket: Socket): () => boolean {
  let isCut = false
  socket.once('close', () => { isCut = true })
  return () => { socket.resume(); return isCut }
}
