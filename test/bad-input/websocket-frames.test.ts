import t from 'tap'
import { until } from '../support/wait.js'
import { tryHttpRows, type HttpRow } from './http-rows.js'
import { call, callTool, initialize } from '../support/messages.js'
import { request, type Bytes, type Head } from '../support/http-client.js'
import { closeFrame, frame, openSocket, OPCODE, upgradeHead } from '../support/websocket-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { summarise } from '../support/summary.js'

const PING = call('ping')('legacy')
const BAD_UTF8 = Buffer.from([0xc0, 0xaf])
const { continuation, text, binary, close, ping, pong } = OPCODE
const start = frame({ opcode: text, payload: '{"jsonrpc"', fin: false })

interface FrameRow { row: string, title: string, frames: Bytes[], expect: string }

const rows: FrameRow[] = [
  {
    row: 'I7',
    title: 'good JSON in a binary frame',
    frames: [frame({ opcode: binary, payload: PING })],
    expect: 'close 1003'
  },
  { row: 'I7', title: 'an empty binary frame', frames: [frame({ opcode: binary, payload: '' })], expect: 'close 1003' },
  {
    row: 'I8',
    title: 'text that is not UTF-8',
    frames: [frame({ opcode: text, payload: BAD_UTF8 })],
    expect: 'close 1007'
  },
  {
    row: 'I8',
    title: 'text that is not UTF-8, in its second fragment',
    frames: [start, frame({ opcode: continuation, payload: BAD_UTF8 })],
    expect: 'close 1007'
  },
  { row: 'I9', title: 'a close reason that is not UTF-8', frames: [closeFrame(1000, BAD_UTF8)], expect: 'close 1007' },
  {
    row: 'I10',
    title: 'a frame without a mask',
    frames: [frame({ opcode: text, payload: PING, masked: false })],
    expect: 'close 1002'
  },
  {
    row: 'I11',
    title: 'RSV1 without an extension',
    frames: [frame({ opcode: text, payload: PING, rsv1: true })],
    expect: 'close 1002'
  },
  ...[3, 7, 11, 15].map(opcode => ({
    row: 'I12',
    title: `the opcode ${opcode}`,
    frames: [frame({ opcode, payload: '' })],
    expect: 'close 1002'
  })),
  {
    row: 'I13',
    title: 'a continuation of nothing',
    frames: [frame({ opcode: continuation, payload: PING })],
    expect: 'close 1002'
  },
  {
    row: 'I14',
    title: 'a new message inside a fragmented one',
    frames: [start, frame({ opcode: text, payload: PING })],
    expect: 'close 1002'
  },
  {
    row: 'I15',
    title: 'a ping of 126 bytes',
    frames: [frame({ opcode: ping, payload: 'x'.repeat(126) })],
    expect: 'close 1002'
  },
  {
    row: 'I16',
    title: 'a fragmented ping',
    frames: [frame({ opcode: ping, payload: '', fin: false })],
    expect: 'close 1002'
  },
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535].map(code => ({
    row: 'I17',
    title: `the close code ${code}`,
    frames: [closeFrame(code)],
    expect: 'close 1002'
  })),
  {
    row: 'I18',
    title: 'a close frame of one byte',
    frames: [frame({ opcode: close, payload: 'x' })],
    expect: 'close 1002'
  },
  {
    row: 'I22',
    title: '17,000 fragments of one byte',
    frames: [start, ...new Array<Buffer>(17_000).fill(frame({ opcode: continuation, payload: ' ', fin: false }))],
    expect: 'close 1008'
  },
  {
    row: 'I22',
    title: '300 empty fragments',
    frames: [start, ...new Array<Buffer>(300).fill(frame({ opcode: continuation, payload: '', fin: false }))],
    expect: 'close 1008'
  },
  {
    row: 'I17',
    title: 'a good close is answered with the same code',
    frames: [closeFrame(1000, 'bye')],
    expect: 'close 1000'
  },
  {
    row: 'I17',
    title: 'a close without a code',
    frames: [frame({ opcode: close, payload: '' })],
    expect: 'close 1005'
  },
  {
    row: 'I16',
    title: 'pings and pongs between the fragments of a good message',
    frames: [...fragments(PING, frame({ opcode: ping, payload: 'x' }), frame({ opcode: pong, payload: 'y' }))],
    expect: 'ok id 7'
  },
  {
    row: 'I14',
    title: 'a good message in fragments that cut a character',
    frames: fragments(Buffer.from(call('tools/é')('legacy'))),
    expect: '-32601 id 7'
  }
]

const upgrade =
  (change: (head: Head) => Head, target = '/mcp') =>
    (port: number) => [request('GET', target, change(upgradeHead(port)))]
const without = (name: string, value?: string) => (head: Head): Head =>
  head.flatMap(line => line[0] !== name ? [line] : value === undefined ? [] : [[name, value] as [string, string]])

const upgrades: HttpRow[] = [
  { row: 'I3', title: 'an upgrade of a path that is not served', send: upgrade(head => head, '/nobody'), expect: 404 },
  ...['7', '12', '14', 'banana', ''].map(version => ({
    row: 'I4',
    title: `WebSocket version ${JSON.stringify(version)}`,
    send: upgrade(without('Sec-WebSocket-Version', version)),
    expect: 426,
    headers: { 'sec-websocket-version': '13' }
  })),
  { row: 'I5', title: 'no key', send: upgrade(without('Sec-WebSocket-Key')), expect: 400 },
  ...['', 'short', 'x'.repeat(24), '!'.repeat(24)].map(key => ({
    row: 'I5',
    title: `the key ${JSON.stringify(key)}`,
    send: upgrade(without('Sec-WebSocket-Key', key)),
    expect: 400
  })),
  {
    row: 'I5',
    title: 'a POST that wants a WebSocket',
    send: port => [request('POST', '/mcp', [...upgradeHead(port), ['Content-Type', 'application/json']], PING)],
    expect: /^(200 ok id 7|4\d\d)/
  }
]

t.test('frames that break the protocol close their socket with the code that fits', async t => {
  const server = await startServer(t)
  const { port } = server
  await tryHttpRows(t, server, upgrades)

  for (const { row, title, frames, expect } of rows) {
    await t.test(`${row}: ${title}`, async t => {
      const socket = await openSocket(port)
      socket.send(initialize())
      await socket.inbox.next()
      socket.write(Buffer.concat(frames.map(bytes => Buffer.from(bytes))))
      t.equal(summarise(await socket.inbox.next()), expect)
      await socket.close()
      await expectUnharmed(t, server)
    })
  }

  for (const target of ['/health', '/sse', '/mcp/sse']) {
    await t.test(`I3: a socket to GET ${target}, which serves none, is closed at once`, async t => {
      const socket = await openSocket(port, [], target)
      t.match(summarise(await socket.inbox.next()), /^close/)
      await expectUnharmed(t, server)
    })
  }

  for (const offer of [
    'permessage-deflate',
    'permessage-deflate; client_max_window_bits=99',
    'permessage-deflate; x=y, __proto__',
    'x-webkit-deflate-frame; constructor; toString=1',
    'permessage-deflate; server_no_context_takeover=1'
  ]) {
    await t.test(`I24: the extension ${offer} is not taken`, async t => {
      const socket = await openSocket(port, [['Sec-WebSocket-Extensions', offer]])
      t.notMatch(socket.headers, /sec-websocket-extensions/i)
      socket.write(frame({ opcode: text, payload: Buffer.from([0xaa, 0x56, 0x0a, 0x00]), rsv1: true }))
      t.equal(summarise(await socket.inbox.next()), 'close 1002')
      await socket.close()
      await expectUnharmed(t, server)
    })
  }

  for (const [offer, chosen] of [
    ['mcp', 'mcp'],
    ['a, mcp', 'mcp'],
    ['__proto__, constructor', undefined],
    ['MCP', undefined]
  ] as const) {
    await t.test(`of the subprotocols ${offer} we speak ${chosen ?? 'none'}`, async t => {
      const socket = await openSocket(port, [['Sec-WebSocket-Protocol', offer]])
      t.equal(/sec-websocket-protocol: (.*)/i.exec(socket.headers)?.[1], chosen)
      await socket.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('I27: a client that does not answer pings is cut off', async t => {
    const quick = await startServer(t, { limits: { heartbeat: 20 } })
    const socket = await openSocket(quick.port)
    t.equal(summarise(await socket.inbox.next()), 'close 0')
    await expectUnharmed(t, quick)
  })

  await t.test('I29: a client that never reads is cut off before too much is queued', async t => {
    const small = await startServer(t, { limits: { maxQueue: 65_536, writeDeadline: 200 } })
    const socket = await openSocket(small.port)
    socket.send(initialize())
    await socket.inbox.next()
    socket.pause()
    const echo = frame({ opcode: text, payload: callTool('echo', { text: 'x'.repeat(1_000_000) })('legacy') })
    for (let times = 0; times < 30; times++) socket.write(echo)
    await until(() => small.app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the peer')
    await socket.close()
    await expectUnharmed(t, small)
  })
})

/** One message in frames of a single byte each, with other frames after the first. */
function fragments (payload: Bytes, ...between: Buffer[]): Buffer[] {
  const bytes = Buffer.from(payload)
  return [...bytes].flatMap((byte, index) => [
    frame({ opcode: index === 0 ? text : continuation, payload: Buffer.from([byte]), fin: index === bytes.length - 1 }),
    ...(index === 0 ? between : [])
  ])
}
