import t from 'tap'
import { postHead } from '../support/http-requests.js'
import { tryHttpRows, type HttpRow } from './http-rows.js'
import { call, callTool, MODERN, NEWEST } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { gateway } from '../support/gateway.js'
import { modernMeta } from '../support/modern.js'
import { startServer } from '../support/server.js'

const list = call('tools/list')('modern')
const named: Array<[method: string, body: string, name: string]> = [
  ['tools/call', callTool('echo', { text: 'x' })('modern'), 'echo'],
  ['resources/read', call('resources/read', { uri: 'test://text' })('modern'), 'test://text'],
  ['prompts/get', call('prompts/get', { name: 'introduce', arguments: { who: 'Ada' } })('modern'), 'introduce']
]
const version: [string, string] = ['MCP-Protocol-Version', MODERN]
const method = (value: string): [string, string] => ['Mcp-Method', value]
const name = (value: string): [string, string] => ['Mcp-Name', value]
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
const MISMATCH = '400 -32020 id 7'
const OK = '200 ok id 7'

const rows: HttpRow[] = [
  row('G1', 'a body of the stateless era without the version header', list, [method('tools/list')], MISMATCH),
  ...[NEWEST, '1900-01-01', 'banana', '', '__proto__', `${MODERN}x`].map(value =>
    row(
      'G2',
      `the version header is ${JSON.stringify(value)}`,
      list,
      [['MCP-Protocol-Version', value], method('tools/list')],
      MISMATCH
    )
  ),
  row('G6', 'the version header sent twice', list, [version, version, method('tools/list')], MISMATCH),
  row('G3', 'no method header', list, [version], MISMATCH),
  ...['prompts/list', '', 'tools/lis', 'tools/list/', '__proto__'].map(value =>
    row('G4', `the method header is ${JSON.stringify(value)}`, list, [version, method(value)], MISMATCH)
  ),
  row('G5', 'the method header in another case', list, [version, method('TOOLS/LIST')], MISMATCH),
  row(
    'G5',
    'names of headers in another case are the same names',
    list,
    [
      ['mcp-protocol-VERSION', MODERN],
      ['MCP-METHOD', 'tools/list']
    ],
    OK
  ),
  row('G6', 'the method header sent twice', list, [version, method('tools/list'), method('tools/list')], MISMATCH),
  row(
    'G6',
    'the method header sent twice, once with something else',
    list,
    [version, method('tools/list'), method('tools/call')],
    MISMATCH
  ),
  ...named.flatMap(([asked, body, given]) => [
    row('G7', `${asked} without the name header`, body, [version, method(asked)], MISMATCH),
    ...[
      'nobody',
      '',
      `${given}x`,
      given.toUpperCase(),
      '__proto__',
      base64('nobody'),
      '=?base64?!!!?=',
      '=?base64??='
    ].map(value =>
      row(
        'G8',
        `${asked} with the name header ${JSON.stringify(value)}`,
        body,
        [version, method(asked), name(value)],
        MISMATCH
      )
    ),
    row(
      'G8',
      `${asked} with the name header sent twice`,
      body,
      [version, method(asked), name(given), name(given)],
      MISMATCH
    ),
    row(
      'G8',
      `${asked} with the name header in Base64 is good`,
      body,
      [version, method(asked), name(base64(given))],
      OK
    )
  ]),
  row(
    'G8',
    'a name in bytes that are not ASCII',
    callTool('caf\u00e9')('modern'),
    [version, method('tools/call'), name('caf\u00e9')],
    MISMATCH
  ),
  row(
    'G8',
    'a name in Base64 of bytes that are not UTF-8',
    callTool('\ufffd')('modern'),
    [version, method('tools/call'), name('=?base64?/w==?=')],
    MISMATCH
  ),
  ...['__proto__', 'constructor', 'toString'].map(value =>
    row(
      'G8',
      `a method called ${value} needs no name header`,
      call(value)('modern'),
      [version, method(value)],
      '404 -32601 id 7'
    )
  ),
  row(
    'G15',
    'the header of the stateless era on a body that claims nothing',
    call('tools/list')('legacy'),
    [version, method('tools/list')],
    '400 -32602 id 7'
  ),
  row(
    'G15',
    'the header of the stateless era on an initialize',
    call('initialize', { protocolVersion: MODERN })('legacy'),
    [version, method('initialize')],
    '400 -32602 id 7'
  )
]

t.test('headers of the stateless era have to repeat the body', async t => {
  await tryHttpRows(t, await startServer(t), rows)
})

t.test('a request that lacks several members and headers is told all of them', async t => {
  const app = await gateway(t)
  const send = async (body: object, headers: Record<string, string>) => {
    const reply = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', ...headers },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', ...body }
    })
    return reply.json<{ error: { code: number, message: string } }>().error
  }
  const members =
    '_meta needs "io.modelcontextprotocol/protocolVersion" as a string and "io.modelcontextprotocol/clientCapabilities" as an object'
  const modern = { 'mcp-protocol-version': MODERN }
  t.match(await send({ params: { name: 'echo' } }, modern), {
    code: -32602,
    message: `Invalid params: ${members}; in the header, Mcp-Method and Mcp-Name are missing`
  })
  t.match(await send({ params: { name: 'echo' } }, { ...modern, 'mcp-method': 'tools/call', 'mcp-name': 'echo' }), {
    code: -32602,
    message: `Invalid params: ${members}`
  })
  t.match(await send({ params: { name: 'echo', _meta: modernMeta() } }, {}), {
    code: -32020,
    message: 'Header mismatch: MCP-Protocol-Version, Mcp-Method and Mcp-Name are missing'
  })
})

function row (row: string, title: string, body: string, head: Head, expect: string): HttpRow {
  return { row, title, send: port => [request('POST', '/mcp', postHead(port, head), body)], expect }
}
