import t, { type Test } from 'tap'
import { createClient } from '../../app.js'
import type { UpstreamStatus } from '../../upstreams/ports.js'
import { inFrontOf } from '../support/upstreams.js'
import { gateway } from '../support/gateway.js'
import { until } from '../support/wait.js'

/**
 * A server on standard input and output that answers `tools/list` with this JSON text, and each call with the text of
 * the call.
 */
const program = (list: string): string => `
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answers = {
    initialize: () => '"result":' + JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } }),
    'tools/list': () => ${JSON.stringify(list)}.replace('SECRET', process.env.SECRET),
    'tools/call': () => '"result":' + params.arguments.result
  }
  const answer = answers[method]?.() ?? '"error":{"code":-32601,"message":"no"}'
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',' + answer + '}\\n')
})`

const server = (list: string): object => ({
  command: process.execPath,
  args: ['-e', program(list)],
  env: { SECRET: 'very-secret-value' }
})

const tool = (name: string, properties: string): string =>
  `{"name":"${name}","inputSchema":{"type":"object","properties":${properties}}}`

t.test(
  'a tool with a key or number that no program should take is left out and named; the others are served',
  async t => {
    const odd = [
      tool('proto', '{"__proto__":{"type":"string","polluted":true}}'),
      tool('own', '{"constructor":{"prototype":{"polluted":true}}}'),
      tool('huge', '{"n":{"maximum":1e999}}'),
      tool('fine', '{"constructor":{"type":"string"},"prototype":{"type":"string"}}')
    ]
    const { app } = await inFrontOf(t, {
      odd: server(`"result":{"tools":[${odd.join()}],"__proto__":{"nextCursor":"x"}}`)
    })
    const client = await createClient(app)
    const { tools } = (await client.request('tools/list')) as { tools: Array<{ name: string, inputSchema: object }> }
    t.strictSame(
      tools.map(({ name }) => name),
      ['odd__fine']
    )
    t.equal(
      JSON.stringify(tools[0]?.inputSchema),
      '{"type":"object","properties":{"constructor":{"type":"string"},"prototype":{"type":"string"}}}'
    )
    t.match(statusOf(app.mcp.upstreams.status()).warnings, [
      /tool "proto" is left out: in it the key "__proto__" is not allowed/,
      /tool "own" is left out: in it the key "constructor.prototype"/,
      /tool "huge" is left out: in it a number is too large/
    ])
    for (const result of ['{"content":[],"__proto__":{"isError":true}}', '{"content":[],"x":1e999}']) {
      await t.rejects(
        client.request('tools/call', { name: 'odd__fine', arguments: { result } }),
        /odd failed: its response cannot be read: (the key "__proto__"|a number)/,
        'results are refused as before'
      )
    }
    t.notOk('polluted' in {})
  }
)

t.test('why a list cannot be read is in the warnings and in lastError, without secrets', async t => {
  const cases: Record<string, [list: string, why: RegExp]> = {
    'an error': [
      '"error":{"code":-32000,"message":"no database at SECRET\\nfor you"}',
      /tool list could not be read: it answered with error -32000: no database at \*\*\*\?for you$/
    ],
    'no result': [
      '"result":7',
      /tool list could not be read: The upstream server odd failed: it answered tools\/list with a result that is not an object$/
    ],
    'too many values': [
      `"result":{"tools":[${'0,'.repeat(300)}0]}`,
      /could not be read: The upstream server odd failed: its response cannot be read: /
    ]
  }
  for (const [name, [list, why]] of Object.entries(cases)) {
    await t.test(name, async t => await showsReason(t, list, why))
  }
})

async function showsReason (t: Test, list: string, why: RegExp): Promise<void> {
  const app = await gateway(t, {
    tools: false,
    plugins: [],
    ephemeral: true,
    limits: { maxUpstreamListValues: 200, maxUpstreamValues: 100 },
    mcpServers: { odd: server(list) }
  })
  await until(() => statusOf(app.mcp.upstreams.status()).warnings.length > 0, 'a warning')
  const { lastError, warnings } = statusOf(app.mcp.upstreams.status())
  t.match(lastError, why)
  t.strictSame(warnings, [lastError])
}

function statusOf ([status]: UpstreamStatus[]): UpstreamStatus {
  if (status === undefined) throw new Error('there is no upstream')
  return status
}
