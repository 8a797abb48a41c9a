import { EventEmitter, once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocket, type ClientOptions } from 'ws'
import { tool, type Options } from '../../../app.js'
import { modernMeta } from '../../support/modern.js'
import { closeFrame, frame, OPCODE, openSocket } from '../../support/websocket-client.js'
import { listening } from '../../support/gateway.js'
import { nextEvent, until, within } from '../../support/wait.js'

type Json = Record<string, unknown>

const DEADLINE = 60_000

async function serve (t: Test, options: Partial<Options> = {}) {
  const { app, url } = await listening(t, options)
  return { app, url: `${url.replace('http', 'ws')}/mcp` }
}

async function open (t: Test, url: string, protocols: string[] = [], options: ClientOptions = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols, options)
  t.teardown(() => socket.terminate())
  await nextEvent(socket, 'open')
  return socket
}

async function ask (socket: WebSocket, message: object): Promise<Json> {
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const [data] = await nextEvent(socket, 'message')
  return JSON.parse(String(data)) as Json
}

const initialize = { id: 0, method: 'initialize', params: {} }

/** A tool that waits until it is aborted, and reports both. */
function waiting (app: Awaited<ReturnType<typeof serve>>['app']): EventEmitter {
  const calls = new EventEmitter()
  app.mcp.tools.add(tool({
    name: 'wait',
    description: 'd',
    run: async (_input, { signal }) => {
      calls.emit('started')
      await once(signal, 'abort')
      calls.emit('aborted', signal.reason)
    }
  }))
  return calls
}

t.test('the subprotocol is spoken when it is offered', async t => {
  const { url } = await serve(t)
  t.equal((await open(t, url)).protocol, '')
  t.equal((await open(t, url, ['mcp'])).protocol, 'mcp')
  t.equal((await open(t, url, ['other', 'mcp'])).protocol, 'mcp')
  const socket = new WebSocket(url, ['other'])
  const [error] = await nextEvent(socket, 'error') as [Error]
  t.match(error.message, /subprotocol/, 'nothing else is spoken')
})

t.test('a text frame is a message, in both eras on one socket', async t => {
  const { url } = await serve(t)
  const socket = await open(t, url)
  t.match(await ask(socket, initialize), { id: 0, result: { protocolVersion: '2025-11-25' } })
  t.match(await ask(socket, { id: 1, method: 'ping' }), { id: 1, result: {} })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  t.match(await ask(socket, { id: 2, method: 'server/discover', params: { _meta } }), {
    id: 2,
    result: { supportedVersions: ['2026-07-28'] }
  })
  t.match(await ask(socket, { id: 3, method: 'ping' }), { id: 3, result: {} })
})

t.test('a frame that is no message is answered, and the socket stays', async t => {
  const { url } = await serve(t)
  const socket = await open(t, url)
  socket.send('nonsense')
  const [data] = await nextEvent(socket, 'message')
  t.match(JSON.parse(String(data)), { id: null, error: { code: -32700 } })
  t.match(await ask(socket, initialize), { id: 0, result: {} })
})

const CLOSES: Array<[what: string, code: number, act: (socket: WebSocket) => void]> = [
  ['a binary frame', 1003, socket => socket.send(Buffer.from('{}'))],
  ['a message over the limit', 1009, socket => socket.send('x'.repeat(2_000))],
  ['text that is not UTF-8', 1007, socket => socket.send(Buffer.from([0xff, 0xfe]), { binary: false })],
  [
    'a message in too many pieces',
    1008,
    socket => {
      for (let piece = 0; piece < 300; piece++) socket.send('x', { fin: false })
    }
  ]
]

for (const [what, code, act] of CLOSES) {
  t.test(`${what} closes the socket with ${code}`, async t => {
    const { app, url } = await serve(t, { maxMessage: 1_000 })
    const socket = await open(t, url)
    socket.on('error', () => {})
    const closed = nextEvent(socket, 'close')
    act(socket)
    t.equal((await closed)[0], code)
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  })
}

t.test('a server that shuts down answers what is in flight, then closes with 1001', async t => {
  const { app, url } = await serve(t)
  const socket = await open(t, url)
  await ask(socket, initialize)
  const messages: Json[] = []
  socket.on('message', data => messages.push(JSON.parse(String(data)) as Json))
  const [started, closed] = [nextEvent(socket, 'message'), nextEvent(socket, 'close')]
  socket.send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'slow', arguments: { steps: 2, delay: 30 }, _meta: { progressToken: 1 } }
    })
  )
  await started
  await app.close()
  t.equal((await closed)[0], 1001)
  t.match(messages, [{ params: { progress: 1 } }, { params: { progress: 2 } }, { id: 1, result: {} }])
})

t.test('a socket that is dropped aborts its calls and is forgotten', async t => {
  const { app, url } = await serve(t)
  const calls = waiting(app)
  const socket = await open(t, url)
  await ask(socket, initialize)
  const [started, aborted] = [nextEvent(calls, 'started'), nextEvent(calls, 'aborted')]
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }))
  await started
  socket.terminate()
  t.match(await aborted, [{ message: 'the socket was closed' }])
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
})

t.test('a client that answers no ping is cut off, one that does stays', async t => {
  const { app, url } = await serve(t, { limits: { heartbeat: 250 } })
  const alive = await open(t, url)
  const mute = await open(t, url, [], { autoPong: false })
  let pings = 0
  alive.on('ping', () => { pings++ })
  t.equal((await nextEvent(mute, 'close'))[0], 1006)
  await nextEvent(alive, 'ping')
  t.ok(pings >= 2)
  t.equal(alive.readyState, WebSocket.OPEN)
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 1)
})

t.test('a client that does not read is cut off, and its calls are aborted', async t => {
  const { app, url } = await serve(t, { limits: { maxQueue: 100_000, heartbeat: 60_000 } })
  const over = new EventEmitter()
  app.mcp.tools.add(tool({
    name: 'flood',
    description: 'd',
    run: async (_input, call) => {
      for (let sent = 1; !call.signal.aborted; sent++) {
        call.progress(sent, undefined, 'x'.repeat(50_000))
        await new Promise(resolve => setImmediate(resolve))
      }
      over.emit('over')
    }
  }))
  const socket = await open(t, url)
  await ask(socket, initialize)
  const ended = nextEvent(over, 'over')
  socket.pause()
  socket.send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'flood', _meta: { progressToken: 1 } }
    })
  )
  await ended
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  socket.resume()
  t.ok([1006, 1008].includes((await nextEvent(socket, 'close'))[0] as number))
})

t.test('another version of the protocol is refused with the one that is spoken', async t => {
  const { url } = await serve(t)
  const response = await upgrade(t, url, ['Sec-WebSocket-Version: 12'])
  t.match(response, /^HTTP\/1\.1 426 /)
  t.match(response, /sec-websocket-version: 13/i)
})

t.test('a socket whose upgrade was refused does not keep the server from closing', async t => {
  const { app, url } = await serve(t)
  t.match(await upgrade(t, url, ['Sec-WebSocket-Version: 13', 'Origin: https://evil.example']), /^HTTP\/1\.1 403 /)
  await within(
    DEADLINE,
    async signal => await Promise.race([app.close(), once(signal, 'abort').then(() => t.fail('it does'))])
  )
})

/** Asks for an upgrade by hand, and keeps the connection open. */
async function upgrade (t: Test, url: string, headers: string[]): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    [
      'GET /mcp HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
      '',
      ''
    ].join('\r\n')
  )
  return String((await nextEvent(socket, 'data'))[0])
}

t.test('a message right before the close is handled; one behind a protocol error is not', async t => {
  const { app } = await serve(t)
  const begun: string[] = []
  app.mcp.tools.add(
    tool({
      name: 'note_down',
      description: 'Remembers',
      input: { type: 'object', properties: { what: { type: 'string' } } },
      run: ({ what }) => {
        begun.push(String(what))
      }
    })
  )
  const say = (what: string) =>
    frame({
      opcode: OPCODE.text,
      payload: JSON.stringify({
        jsonrpc: '2.0',
        id: what,
        method: 'tools/call',
        params: { name: 'note_down', arguments: { what }, _meta: modernMeta() }
      })
    })
  const { port } = app.server.address() as AddressInfo
  for (const [what, ...frames] of [
    ['before a close', say('before a close'), closeFrame(1000)],
    ['before a broken frame', say('before a broken frame'), Buffer.from([0xff, 0xff, 1, 2, 3])],
    [
      'before a binary frame',
      say('before a binary frame'),
      frame({ opcode: OPCODE.binary, payload: 'x' }),
      say('behind a binary frame')
    ]
  ] as Array<[string, ...Buffer[]]>) {
    const socket = await openSocket(port)
    t.teardown(async () => await socket.close())
    socket.write(Buffer.concat(frames))
    await t.resolves(
      until(() => begun.includes(what)),
      what
    )
  }
  t.notOk(begun.includes('behind a binary frame'))
})
