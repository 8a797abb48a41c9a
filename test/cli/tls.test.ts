import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import t from 'tap'
import WebSocket from 'ws'
import { TLS } from '../support/environment/tls.js'
import { folder, launch } from '../support/process.js'

const SAFE = { ca: TLS.cert, servername: 'localhost' }
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } } })
const CONFIG = JSON.stringify({ port: 0, host: 'localhost', ephemeral: true, tls: { key: 'key.pem', cert: 'cert.pem' } })

t.test('with option tls, HTTP and WebSocket are served over TLS on every address of localhost, and the banner has https and wss', async t => {
  const cwd = await folder(t, { 'key.pem': TLS.key, 'cert.pem': TLS.cert, 'config.json': CONFIG })
  const launched = launch(t, ['--config', `${cwd}/config.json`])
  await launched.up()
  const [, port] = /MCP +https:\/\/[^:]+:(\d+)\/mcp/.exec(launched.stderr) ?? []
  t.match(launched.stderr, `wss://127.0.0.1:${port}/mcp`)
  const outgoing = request(`https://localhost:${port}/message`, { method: 'POST', headers: { 'content-type': 'application/json' }, ...SAFE })
  outgoing.end(CALL)
  const [reply] = await once(outgoing, 'response') as [IncomingMessage]
  t.match(JSON.parse(await text(reply)), { result: { content: [{ text: '1 + 2 = 3' }] } })
  const socket = new WebSocket(`wss://localhost:${port}/mcp`, SAFE)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }))
  const [data] = await once(socket, 'message') as [Buffer]
  t.match(JSON.parse(String(data)), { id: 0, result: {} })
  launched.kill('SIGTERM')
  t.equal((await launched.exit()).code, 0)
})

t.test('files that cannot be used end the start with a sentence', async t => {
  const cwd = await folder(t, { 'key.pem': TLS.key, 'cert.pem': TLS.cert, 'no.pem': 'no' })
  const start = async (tls: object) => await launch(t, ['--port', '0', '--ephemeral'], { cwd, env: { PATCHBAY_TLS: JSON.stringify(tls) } }).exit()
  t.match(await start({ key: 'missing.pem', cert: 'cert.pem' }), { code: 1, stderr: /^patchbay: option tls\.key names a file that cannot be read: ENOENT.*missing\.pem'\n$/ })
  t.match(await start({ key: 'key.pem', cert: 'no.pem' }), { code: 1, stderr: /^patchbay: option tls: .*key\.pem and .*no\.pem must be the private key and the certificate of this server, as PEM without a password \(.*\)\n$/ })
  t.match(await start({ key: 'key.pem' }), { code: 1, stderr: /option tls/ })
})
