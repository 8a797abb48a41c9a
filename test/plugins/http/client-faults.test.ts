import { once } from 'node:events'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { until } from '../../support/wait.js'
import { headOf, lastExchange, request } from '../../support/http-client.js'
import { Closed, frame, OPCODE, openSocket, promise } from '../../support/websocket-client.js'
import { listening } from '../../support/gateway.js'

/** A gateway on a port, and the lines of its log that are worse than information. */
async function logging (t: Test) {
  const lines: Array<{ level: number, msg: string }> = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(
        ...String(chunk)
          .trim()
          .split('\n')
          .map(line => JSON.parse(line) as (typeof lines)[number])
      )
      done()
    }
  })
  const { app, url } = await listening(
    t,
    { maxMessage: 65_536, limits: { maxFragments: 8, headersTimeout: 200 } },
    { logger: { level: 'debug', stream } }
  )
  return { app, port: Number(new URL(url).port), lines, bad: () => lines.filter(({ level }) => level >= 40) }
}

const text = (payload: string | Uint8Array, fin = true, opcode: number = OPCODE.text) => frame({ opcode, payload, fin })

const FRAMES: Array<[what: string, bytes: Buffer, code: number]> = [
  [
    'more fragments than are allowed',
    Buffer.concat([text('', false), ...Array.from({ length: 9 }, () => text('', false, OPCODE.continuation))]),
    1008
  ],
  ['a frame that is not masked', frame({ opcode: OPCODE.text, payload: 'x', masked: false }), 1002],
  ['an opcode that does not exist', frame({ opcode: 5, payload: 'x' }), 1002],
  ['a reserved bit', frame({ opcode: OPCODE.text, payload: 'x', rsv1: true }), 1002],
  ['a continuation of nothing', text('x', true, OPCODE.continuation), 1002],
  ['a fragmented ping', frame({ opcode: OPCODE.ping, payload: 'x', fin: false }), 1002],
  ['bytes that are not UTF-8', text(Uint8Array.of(0xc3, 0x28)), 1007],
  ['a close code that may not be used', frame({ opcode: OPCODE.close, payload: Uint8Array.of(0, 1) }), 1002],
  ['a message that is too large', promise(1_000_000n), 1009]
]

t.test('a WebSocket client that breaks the protocol gets the close code and logs no warning', async t => {
  const { port, lines, bad } = await logging(t)
  for (const [what, bytes, code] of FRAMES) {
    const seen = lines.length
    const socket = await openSocket(port)
    socket.write(bytes)
    t.strictSame(await socket.inbox.next(), new Closed(code), what)
    await until(
      () => lines.slice(seen).some(({ level, msg }) => level === 20 && msg.includes('WebSocket')),
      'a line at debug level'
    )
    await socket.close()
  }
  t.strictSame(bad(), [])
})

t.test('a reset connection logs no warning or error', async t => {
  const { app, port, bad } = await logging(t)
  const host: Array<[string, string]> = [
    ['Host', 'localhost'],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream']
  ]
  const beginnings = [
    request('GET', '/mcp', [
      ['Host', 'localhost'],
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']
    ]),
    request('GET', '/mcp/sse', [['Host', 'localhost']]),
    request('GET', '/sse', [['Host', 'localhost']]),
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"',
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"jsonrpc"',
    request('POST', '/message', host, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
  ]
  for (const beginning of beginnings) {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
    await once(socket, 'connect')
    socket.write(beginning)
    await until(
      () => (app.server as typeof app.server & { _connections: number })._connections === 1,
      'the connection is known'
    )
    socket.resetAndDestroy()
    await until(
      () => (app.server as typeof app.server & { _connections: number })._connections === 0,
      'the connection is over'
    )
  }
  t.strictSame(bad(), [])
})

t.test('bytes that are not HTTP log no warning or error', async t => {
  const { port, bad } = await logging(t)
  const hello = Buffer.from('160301007b0100007703035c', 'hex')
  for (const bytes of [
    'GET / HTTP/9.9\r\n\r\n',
    'nonsense\r\n\r\n',
    hello,
    `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  ]) {
    t.ok([0, 400, 431].includes((await lastExchange(port, bytes)).status), String(bytes).slice(0, 20))
  }
  t.equal((await headOf(port, 'GET /health HTTP/1.1\r\n')).status, 408)
  t.strictSame(bad(), [])
})
