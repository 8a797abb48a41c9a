import t from 'tap'
import { tryHttpRows, type HttpRow } from './http-rows.js'
import { MODERN } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { startServer } from '../support/server.js'

const LIMIT = 65_536
const big = 'x'.repeat(LIMIT + 1)

/** Each wrong thing on a POST /mcp, in the order in which a server has to look at them. */
const FAULTS = {
  host: { head: [['Host', 'evil.com']], status: 403 },
  method: { method: 'PUT', status: 405 },
  type: { head: [['Content-Type', 'text/plain']], status: 415 },
  accept: { head: [['Accept', 'text/plain']], status: 406 },
  size: { body: big, status: 413 },
  json: { body: '{', status: 400 },
  headers: { head: [['MCP-Protocol-Version', MODERN]], status: 400 }
} satisfies Record<string, { head?: Head, method?: string, body?: string, status: number }>

const rows: HttpRow[] = [
  pair('host', 'method', '403 -32600 id null'),
  pair('host', 'type', '403 -32600 id null'),
  pair('host', 'size', '403 -32600 id null'),
  pair('method', 'type', '405 -32600 id null'),
  pair('method', 'size', '405 -32600 id null'),
  pair('type', 'size', '415 -32600 id null'),
  pair('accept', 'size', '406 -32600 id null'),
  pair('size', 'headers', '413 -32600 no id'),
  pair('type', 'headers', '415 -32600 no id'),
  pair('accept', 'headers', '406 -32600 no id'),
  pair('host', 'headers', '403 -32600 no id'),
  pair('json', 'headers', '400 -32700 no id')
]

t.test('a request with two mistakes is refused for the one that is checked first', async t => {
  await tryHttpRows(t, await startServer(t, { maxMessage: LIMIT }), rows)
})

function pair (first: keyof typeof FAULTS, second: keyof typeof FAULTS, expect: string): HttpRow {
  const faults: Array<{ head?: Head, method?: string, body?: string }> = [FAULTS[second], FAULTS[first]]
  const head = new Map<string, string>([
    ['Host', 'localhost'],
    ['Content-Type', 'application/json'],
    ...faults.flatMap(fault => fault.head ?? [])
  ])
  const method = faults.find(fault => fault.method !== undefined)?.method ?? 'POST'
  const body = faults.find(fault => fault.body !== undefined)?.body ?? '{"jsonrpc":"2.0","id":7,"method":"tools/list"}'
  return {
    row: 'O20',
    title: `${first} before ${second}`,
    send: () => [request(method, '/mcp', [...head], body)],
    expect
  }
}
