import t from 'tap'
import { resource } from '../../app.js'
import { decode } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'
import { newestStateful } from '../../protocol/revisions/table.js'
import { uriTemplate } from '../../protocol/definitions/uri-template.js'
import { call, callTool, nested, write, type Input } from '../support/messages.js'
import { exchange, request } from '../support/http-client.js'
import { startServer, type Server } from '../support/server.js'

const N = 100_000
const LIMIT_MS = 100
const many = (text: string) => text.repeat(Math.ceil(N / text.length)).slice(0, N)
const uri = (value: string) => call('resources/read', { uri: value })
/** Keys that look like numbers have a predictable hash: these share all its low bits. */
const colliding = (count: number, step: number) =>
  `{"jsonrpc":"2.0","id":7,"method":"ping","params":{${Array.from({ length: count }, (_, index) => `"${index * step}":1`).join(',')}}}`
const objects = (depth: number) => nested(depth, '{"a":', '}').replace(':}', ':{}}')

const INPUTS: Record<string, Input> = {
  'nested arrays': nested(N),
  'nested objects': objects(N),
  'nested arrays that never end': '['.repeat(N),
  'nested arrays in arguments': `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":${nested(N)}}}}`,
  'nested objects in _meta': `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":${objects(N)}}}`,
  'nested arrays as an id': `{"jsonrpc":"2.0","id":${nested(N)},"method":"ping"}`,
  'a batch of empty objects': `[${new Array(N).fill('{}').join(',')}]`,
  'a key many times': `{"jsonrpc":"2.0","id":7,"method":"ping","params":{${new Array(N).fill('"a":1').join(',')}}}`,
  'many keys': `{"jsonrpc":"2.0","id":7,"method":"ping","params":{${Array.from({ length: N }, (_, key) => `"${key}":1`).join(',')}}}`,
  'keys whose hashes collide': colliding(9_990, 1_000),
  'keys whose hashes collide more': colliding(9_700, 1_024),
  'keys whose hashes collide, more than are allowed': colliding(20_000, 512),
  'a long number': `{"jsonrpc":"2.0","id":${'9'.repeat(N)},"method":"ping"}`,
  'a long id': call('ping', {}, many('x')),
  'a long method': call(many('tools/')),
  'a long tool name': callTool(many('a')),
  'a long cursor': call('tools/list', { cursor: many('A') }),
  'a long request state': call('tools/call', { name: 'echo', arguments: { text: 'x' }, requestState: many('A') }),
  'a URI of slashes': uri(`test://item/${many('/')}`),
  'a URI of commas': uri(`test://item/${many(',')}`),
  'a URI of percent signs': uri(`test://item/${many('%')}`),
  'a URI of escapes': uri(`test://item/${many('%41')}`),
  'a URI of braces': uri(many('{')),
  'a URI of equals signs and ampersands': uri(`test://query?${many('=&')}`),
  'a long prompt name': call('prompts/get', { name: many('(a+)+') }),
  'a long completion': call('completion/complete', {
    ref: { type: 'ref/resource', uri: many('{a}') },
    argument: { name: 'a', value: many('a') }
  })
}
const TEMPLATES = [
  'test://a/{x}',
  'test://a/{+x}',
  'test://a/{x,y,z}',
  'test://a{/x*}',
  'test://a{?x,y*}',
  'test://a/{+x}/b/{+y}/c',
  'test://a/{x}{y}{z}',
  'test://a{.x}{;y}{&z}{#w}'
]
const TAILS = ['/', ',', 'x', '%', '%2F', '=', '&', '.', '/b/', 'x,', '?x=', '&y=']

t.test('evil input is dealt with quickly', async t => {
  const server = await startServer(t)
  for (const template of TEMPLATES) {
    server.app.mcp.resources.add(resource({ uri: template.replace('://a', '://item'), name: template, read: () => '' }))
  }

  for (const [title, input] of Object.entries(INPUTS)) {
    await t.test(title, async t => {
      const text = write(input, 'legacy')
      const ms = await quickest(async () => await answer(server, text))
      t.ok(ms < LIMIT_MS, `${ms.toFixed(1)} ms`)
    })
  }

  for (const name of [
    'Content-Type',
    'Accept',
    'Origin',
    'Mcp-Session-Id',
    'Last-Event-ID',
    'Mcp-Name',
    'MCP-Protocol-Version',
    'Sec-WebSocket-Protocol'
  ]) {
    await t.test(`a ${name} header of 14 KB`, async t => {
      for (const part of [' ', ',', ';', '/', '=?base64?', 'a;q=0,']) {
        const bytes = request(
          'POST',
          '/mcp',
          [
            ['Host', 'localhost'],
            ['Content-Type', 'application/json'],
            [name, `x${part.repeat(14_000 / part.length)}x`]
          ],
          '{}'
        )
        const ms = await quickest(async () => await exchange(server.port, bytes))
        t.ok(ms < LIMIT_MS, `${JSON.stringify(part)}: ${ms.toFixed(1)} ms`)
      }
    })
  }

  await t.test('URIs that almost fit a template', async t => {
    for (const template of TEMPLATES) {
      const { match } = uriTemplate(template)
      for (const tail of TAILS) {
        const uris = [`test://a/${many(tail)}`, `test://a${many(tail)}`, `test://a/${many(tail).slice(0, 2_000)}!`]
        const ms = await quickest(async () => uris.map(match))
        t.ok(ms < LIMIT_MS, `${template} and ${tail}: ${ms.toFixed(1)} ms`)
      }
    }
  })
})

/** The least of five CPU times in milliseconds, so that a busy machine makes no difference. */
async function quickest (run: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const start = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(start)
    times.push((user + system) / 1_000)
  }
  return Math.min(...times)
}

/** Reads and answers a message as a transport would. */
async function answer ({ app }: Server, text: string | Uint8Array): Promise<string> {
  return await new Promise(resolve => {
    app.mcp.dispatcher.receive(decode(Buffer.from(text)), new Peer({ revision: newestStateful }), {
      streams: false,
      respond: resolve,
      emit: () => {},
      end: () => resolve('')
    })
  })
}
