import t from 'tap'
import { performHandshake, probe } from '../support/transports.js'
import { call, callTool, initialize, modernMeta, NEWEST } from '../support/messages.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { summarise } from '../support/summary.js'
import { stdioConnection, type StdioConnection } from '../support/connections.js'

const ECHO = 'añ€😀'
const echo = Buffer.from(callTool('echo', { text: ECHO })('legacy'))
const ping = call('ping')('legacy')

interface LineRow {
  row: string
  title: string
  write: (connection: StdioConnection) => void | Promise<void>
  expect: string[]
}

const rows: LineRow[] = [
  {
    row: 'J1',
    title: 'half a line, and the rest later',
    write: async connection => {
      await inParts(connection, [20, 21, echo.length - 1])
    },
    expect: ['ok id 7']
  },
  {
    row: 'J2',
    title: 'one byte per write',
    write: async connection => {
      await inParts(connection, [...echo.keys()])
    },
    expect: ['ok id 7']
  },
  {
    row: 'J3',
    title: 'characters split over writes',
    write: async connection => {
      await inParts(connection, insideCharacters(echo))
    },
    expect: ['ok id 7']
  },
  {
    row: 'J4',
    title: 'lines that end in CR and LF',
    write: connection => {
      connection.raw(`${ping}\r\n\r\n${call('ping', {}, 8)('legacy')}\r\n`)
    },
    expect: ['ok id 7', 'ok id 8']
  },
  {
    row: 'J5',
    title: 'a lone CR inside a line',
    write: connection => {
      connection.raw(`${ping}\r${ping}\n`)
    },
    expect: ['-32700 id null']
  },
  {
    row: 'J5',
    title: 'a CR where JSON allows a blank',
    write: connection => {
      connection.raw('{\r"jsonrpc":"2.0","id":7,"method":"ping"}\n')
    },
    expect: ['ok id 7']
  },
  {
    row: 'J7',
    title: 'lines that are not JSON',
    write: connection => {
      connection.raw('hello\n<xml/>\n{\n')
    },
    expect: ['-32700 id null', '-32700 id null', '-32700 id null']
  },
  {
    row: 'J8',
    title: 'a line of NUL',
    write: connection => {
      connection.raw('\0\0\0\n\0\n')
    },
    expect: ['-32700 id null', '-32700 id null']
  },
  {
    row: 'J9',
    title: 'the headers of the Language Server Protocol',
    write: connection => {
      connection.raw(`Content-Length: ${ping.length}\r\n\r\n${ping}\n`)
    },
    expect: ['-32700 id null', 'ok id 7']
  },
  {
    row: 'J7',
    title: 'a good line after bytes that are not UTF-8',
    write: connection => {
      connection.raw(Buffer.from([0xff, 10]))
      connection.raw(`${ping}\n`)
    },
    expect: ['-32700 id null', 'ok id 7']
  },
  {
    row: 'J7',
    title: 'a message spread over lines',
    write: connection => {
      connection.raw(JSON.stringify(JSON.parse(ping), undefined, 2) + '\n')
    },
    expect: new Array<string>(6).fill('-32700 id null')
  },
  {
    row: 'J4',
    title: 'other characters that end lines elsewhere',
    write: connection => {
      connection.raw(callTool('echo', { text: 'a\u2028b\u2029c\u0085d' })('legacy') + '\n')
    },
    expect: ['ok id 7']
  }
]

t.test('lines are read however they arrive', async t => {
  const server = await startServer(t)

  for (const { row, title, write, expect } of rows) {
    await t.test(`${row}: ${title}`, async t => {
      const connection = await initializedConnection(server)
      await write(connection)
      for (const expected of expect) t.equal(summarise(await connection.inbox.next()), expected)
      t.strictSame(await probe(connection, 'legacy'), [])
      await connection.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('J3: what was split arrives as it was', async t => {
    const connection = await initializedConnection(server)
    await inParts(connection, [...echo.keys()])
    t.match(await connection.inbox.next(), { id: 7, result: { structuredContent: { text: ECHO } } })
    await connection.close()
  })

  await t.test('J6: 1,000 messages in one write are answered 1,000 times', async t => {
    const connection = await initializedConnection(server)
    connection.raw(
      Array.from({ length: 1_000 }, (_, id) => callTool('echo', { text: 'x' }, id)('legacy') + '\n').join('')
    )
    const ids = new Set<unknown>()
    for (let times = 0; times < 1_000; times++) ids.add((await connection.inbox.next() as { id: number }).id)
    t.equal(ids.size, 1_000)
    await connection.close()
    t.equal(connection.inbox.size, 0)
    await expectUnharmed(t, server)
  })

  await t.test('J6: 1,000 bad lines are answered 1,000 times, or fewer where they are too many', async t => {
    const connection = await initializedConnection(server)
    connection.raw('x\n'.repeat(1_000))
    t.equal(summarise(await connection.inbox.next()), '-32700 id null')
    await connection.write(call('ping', {}, 'last')('legacy'))
    while (summarise(await connection.inbox.next()) !== 'ok id "last"');
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('J1: a line that has no end when the input ends is a line all the same', async t => {
    const connection = await initializedConnection(server)
    connection.raw(ping)
    await connection.close()
    t.equal(summarise(await connection.inbox.next()), 'ok id 7')
    await expectUnharmed(t, server)
  })

  await t.test('J16: a client of the stateless era is never sent a request', async t => {
    const connection = await stdioConnection(server)
    const _meta = modernMeta(undefined, { elicitation: {}, sampling: {}, roots: {} })
    for (const name of ['ask_name', 'ask_model', 'ask_roots']) {
      await connection.write(call('tools/call', { name, arguments: {}, _meta })('modern'))
      t.match(await connection.inbox.next(), { id: 7, result: { resultType: 'input_required' } }, name)
    }
    t.strictSame(await probe(connection, 'modern'), [])
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('how an unreadable message is answered follows the latest request', async t => {
    const connection = await stdioConnection(server)
    const bad = async () => { await connection.write('{'); return summarise(await connection.inbox.next()) }
    t.equal(await bad(), '-32700 id null', 'before anything was asked')
    t.strictSame(await probe(connection, 'modern'), [])
    t.equal(await bad(), '-32700 no id', 'after a request of the stateless era')
    await connection.write(initialize(NEWEST))
    t.equal(summarise(await connection.inbox.next()), 'ok id 0')
    t.equal(await bad(), '-32700 id null', 'after a handshake')
    await connection.close()
    await expectUnharmed(t, server)
  })
})

async function initializedConnection (server: Server): Promise<StdioConnection> {
  const connection = await stdioConnection(server)
  await performHandshake(connection)
  return connection
}

/** Writes the echo call cut at these places, each part in a turn of its own. */
async function inParts (connection: StdioConnection, cuts: number[]): Promise<void> {
  const places = [0, ...cuts, echo.length]
  for (const [index, end] of places.entries()) {
    if (index > 0) connection.raw(echo.subarray(places[index - 1], end))
    await new Promise(resolve => setImmediate(resolve))
  }
  connection.raw('\n')
}

/** The places that are not the start of a character. */
function insideCharacters (bytes: Buffer): number[] {
  return [...bytes.keys()].filter(index => ((bytes[index] as number) & 0xc0) === 0x80)
}
