import type { Head } from '../case.js'
import { METHODS, TOOLS, VERSIONS } from '../dictionary.js'
import type { Random } from '../random.js'

const PATHS = [
  '/mcp',
  '/message',
  '/sse',
  '/mcp/sse',
  '/health',
  '/ticket',
  '/.well-known/oauth-protected-resource',
  '/mcp?ticket=x',
  '/message?sessionId=',
  '/message?sessionId=x',
  '/message?sessionId=a&sessionId=b',
  '/message?sessionId[]=a',
  '{{endpoint}}',
  '/',
  '/mcp/',
  '/sse/',
  '/message/',
  '/health/',
  '/mcp/sse/',
  '/ticket/',
  '/mcp/?x',
  '//mcp',
  '/mcp?x=%',
  '/%6dcp',
  '/mcp%00',
  '/MCP',
  '/__proto__',
  '*',
  'http://evil/mcp',
  '/mcp/../health'
]
const VERBS = ['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'BREW', 'TRACE']
const ODD = [
  '',
  ' ',
  'x',
  '*',
  'null',
  '__proto__',
  '0',
  '-1',
  '{{session}}',
  '{{event}}',
  'a, b',
  'é',
  'x'.repeat(300),
  '%00',
  '=?base64?ZWNobw==?=',
  '=?base64?/w==?=',
  '"',
  '\t'
]

/** What fits a header, right and wrong. */
const FITTING: Record<string, readonly string[]> = {
  'content-type': [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=utf-16',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json-rpc',
    'APPLICATION/JSON',
    'application/json, text/plain',
    'application/json\ta',
    '*/*'
  ],
  accept: [
    'application/json, text/event-stream',
    '*/*',
    'text/event-stream',
    'application/json',
    'application/*, text/*',
    'application/json;q=0, text/event-stream',
    'text/html',
    '*/*;q=0',
    ',',
    'application/json;q=x, text/event-stream;q=1'
  ],
  'mcp-session-id': ['{{session}}', '{{session}}x', 'x'],
  'x-session-id': ['{{session}}', '{{session}}x', 'x'],
  'mcp-protocol-version': VERSIONS,
  'mcp-method': METHODS.filter(method => /^[!-~]*$/.test(method)),
  'mcp-name': TOOLS,
  'mcp-param-text': ODD,
  'last-event-id': ['{{event}}', '{{event}}0', '0', '-1', '1-0', 'x', '999999999999999999999', '1_1'],
  host: [
    '127.0.0.1',
    'localhost',
    'localhost:1',
    '[::1]',
    'LOCALHOST.',
    '127.0.0.1.',
    '127.0.0.2',
    '127.1',
    'localhost..',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '127.0.0.1@evil.example',
    'LOCALHOST',
    '0x7f.1',
    '2130706433',
    ''
  ],
  origin: [
    'http://localhost',
    'https://127.0.0.1:1',
    'null',
    'http://evil.example',
    'localhost',
    'http://localhost.evil.example',
    'file://',
    'http://[',
    'http://localhost/x'
  ],
  'content-encoding': ['gzip', 'identity', 'br', ''],
  'content-length': ['0', '1', '10', '99999999999', '-1', '1e3', '0x10', '+5', '5, 5'],
  'transfer-encoding': ['chunked', 'gzip, chunked', 'identity', 'chunked, chunked'],
  expect: ['100-continue', '100-Continue', '100-continue, x', 'x'],
  connection: ['close', 'keep-alive', 'Upgrade', 'x'],
  upgrade: ['websocket', 'h2c', 'x'],
  'sec-websocket-version': ['13', '7', ''],
  'sec-websocket-key': ['dGhlIHNhbXBsZSBub25jZQ==', 'x', ''],
  authorization: [
    'Bearer x',
    'Bearer',
    'Basic eDp4',
    'bearer  x',
    '',
    'Bearer {{key}}',
    'Bearer {{their_key}}',
    'Bearer {{wrong_key}}',
    'Bearer {{ticket}}'
  ],
  'x-api-key': ['x', '', '{{key}}', '{{their_key}}', '{{wrong_key}}', '{{key}}, {{their_key}}'],
  'sec-websocket-protocol': ['mcp', 'ticket.x', 'mcp, ticket.{{ticket}}', 'ticket.{{spent}}'],
  cookie: ['a=b', '__proto__=1'],
  'x-forwarded-for': ['1.2.3.4', 'x', '127.0.0.1', '::1', '1.2.3.4, 127.0.0.1', ''],
  'x-forwarded-host': ['evil.example', 'localhost'],
  'x-forwarded-proto': ['https', 'x'],
  'x-forwarded-port': ['443', 'x'],
  forwarded: ['for=1.2.3.4', 'for=127.0.0.1;host=localhost', ';;='],
  via: ['1.1 proxy'],
  __proto__x: ['1'],
  constructor: ['1']
}
const NAMES = Object.keys(FITTING)

type Change = (head: Head, at: number, random: Random) => void

const CHANGES: Change[] = [
  ({ headers }, at) => {
    headers.splice(at, 1)
  },
  ({ headers }, at) => {
    headers.push(...headers.slice(at, at + 1))
  },
  ({ headers }, at, random) => {
    const name = headers[at]?.[0] ?? 'accept'
    headers[at] = [name, fitting(name, random)]
  },
  ({ headers }, at, random) => {
    const name = headers[at]?.[0] ?? 'accept'
    headers[at] = [name, fitting(name, random)]
  },
  ({ headers }, at, random) => {
    headers[at] = [headers[at]?.[0] ?? 'accept', random.pick(ODD)]
  },
  ({ headers }, at, random) => {
    const name = random.pick(NAMES)
    headers.splice(at, 0, [name, fitting(name, random)])
  },
  ({ headers }, at, random) => {
    const name = random.pick(NAMES)
    headers.splice(at, 0, [name, fitting(name, random)])
  },
  (head, _at, random) => {
    head.path = random.pick(PATHS)
  },
  (head, _at, random) => {
    head.method = random.pick(VERBS)
  },
  (head, _at, random) => {
    head.method = 'GET'
    head.path = random.pick(['/mcp', '/sse', '/mcp/sse'])
    head.headers = head.headers.filter(([name]) => name !== 'accept').concat([['accept', 'text/event-stream']])
  },
  ({ headers }, _at, random) => {
    for (let count = random.pick([50, 250]); count > 0; count--) headers.push([`x-${count}`, 'y'])
  }
]

/** Changes the head of a request, never its framing beyond what a header can do. */
export function mutateHead ({ method, path, headers }: Head, random: Random): Head {
  const head = { method, path, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  for (let times = 1 + random.below(3); times > 0; times--) {
    random.pick(random.oneIn(40) ? CHANGES.slice(-1) : CHANGES.slice(0, -1))(
      head,
      random.below(Math.max(1, head.headers.length)),
      random
    )
  }
  head.headers = head.headers.filter(entry => entry !== undefined)
  return head
}

const fitting = (name: string, random: Random): string =>
  random.pick(Object.hasOwn(FITTING, name) ? (FITTING[name] ?? ODD) : ODD)
