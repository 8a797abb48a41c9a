import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import WebSocket from 'ws'
import { readTls } from '../../system/credentials/tls-files.js'
import { TLS } from '../support/environment/tls.js'
import { folder, launch } from '../support/process.js'

const SAFE = { ca: TLS.cert, servername: 'localhost' }
const CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } }
})
const CONFIG = JSON.stringify({
  port: 0,
  host: 'localhost',
  ephemeral: true,
  tls: { key: 'key.pem', cert: 'cert.pem' }
})

const RSA = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
})
const EC = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
})
const ENCRYPTED = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }
})

t.test(
  'with option tls, HTTP and WebSocket are served over TLS on every address of localhost, and the banner has https and wss',
  async t => {
    const cwd = await folder(t, { 'key.pem': TLS.key, 'cert.pem': TLS.cert, 'config.json': CONFIG })
    const launched = launch(t, ['--config', `${cwd}/config.json`])
    await launched.up()
    const [, port] = /MCP +https:\/\/[^:]+:(\d+)\/mcp/.exec(launched.stderr) ?? []
    t.match(launched.stderr, `wss://127.0.0.1:${port}/mcp`)
    const outgoing = request(`https://localhost:${port}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...SAFE
    })
    outgoing.end(CALL)
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage]
    t.match(JSON.parse(await text(reply)), { result: { content: [{ text: '1 + 2 = 3' }] } })
    const socket = new WebSocket(`wss://localhost:${port}/mcp`, SAFE)
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }))
    const [data] = (await once(socket, 'message')) as [Buffer]
    t.match(JSON.parse(String(data)), { id: 0, result: {} })
    launched.kill('SIGTERM')
    t.equal((await launched.exit()).code, 0)
  }
)

t.test('files that cannot be used end the start with a sentence', async t => {
  const cwd = await folder(t, {
    'key.pem': TLS.key,
    'cert.pem': TLS.cert,
    'no.pem': 'no',
    'rsa.pem': RSA.privateKey,
    'encrypted.pem': ENCRYPTED.privateKey
  })
  const start = async (tls: object) =>
    await launch(t, ['--port', '0', '--ephemeral'], { cwd, env: { PATCHBAY_TLS: JSON.stringify(tls) } }).exit()
  t.match(await start({ key: 'missing.pem', cert: 'cert.pem' }), {
    code: 1,
    stderr: /^patchbay: option tls\.key names a file that cannot be read: ENOENT.*missing\.pem'\n$/
  })
  t.match(await start({ key: 'key.pem', cert: 'no.pem' }), {
    code: 1,
    stderr: /^patchbay: option tls\.cert: .*no\.pem must be a certificate as PEM: .*\n$/
  })
  t.match(await start({ key: 'key.pem' }), { code: 1, stderr: /option tls/ })
  t.match(await start({ key: 'encrypted.pem', cert: 'cert.pem' }), {
    code: 1,
    stderr: /^patchbay: option tls\.key: .*encrypted\.pem is encrypted; remove the password: openssl pkey -in .*\n$/
  })
  t.match(await start({ key: 'rsa.pem', cert: 'cert.pem' }), {
    code: 1,
    stderr:
      /^patchbay: option tls: the private key in .*rsa\.pem does not belong to the certificate in .*cert\.pem; .*\n$/
  })
})

t.test('the sentence names the file at fault', async t => {
  const cwd = await folder(t, {
    'key.pem': TLS.key,
    'cert.pem': TLS.cert,
    'no.pem': 'no',
    'empty.pem': '',
    'other.pem': EC.privateKey
  })
  const read = (key: string, cert: string) => () => readTls({ key: join(cwd, key), cert: join(cwd, cert) })
  t.strictSame(read('key.pem', 'cert.pem')(), { key: Buffer.from(TLS.key), cert: Buffer.from(TLS.cert) })
  t.throws(read('other.pem', 'cert.pem'), {
    message: /the private key in .*other\.pem does not belong to the certificate in .*cert\.pem/
  })
  t.throws(read('no.pem', 'cert.pem'), { message: /^option tls\.key: .*no\.pem must be a private key as PEM/ })
  t.throws(read('cert.pem', 'key.pem'), { message: /^option tls\.key: .*cert\.pem must be a private key as PEM/ })
  t.throws(read('empty.pem', 'cert.pem'), { message: /^option tls\.key: .*empty\.pem is empty$/ })
  t.throws(read('key.pem', 'empty.pem'), { message: /^option tls\.cert: .*empty\.pem is empty$/ })
  t.throws(read('key.pem', '.'), {
    message: /^option tls\.cert names a file that cannot be read: .* is no regular file$/
  })
  t.throws(() => readTls({ key: '/dev/zero', cert: join(cwd, 'cert.pem') }), {
    message: 'option tls.key names a file that cannot be read: /dev/zero is no regular file'
  })
})

t.test('a client that speaks HTTP to the TLS port is logged, once a minute', async t => {
  const cwd = await folder(t, { 'key.pem': TLS.key, 'cert.pem': TLS.cert, 'config.json': CONFIG })
  const launched = launch(t, ['--config', `${cwd}/config.json`])
  await launched.up()
  const [, port] = /MCP +https:\/\/[^:]+:(\d+)\/mcp/.exec(launched.stderr) ?? []
  for (let count = 0; count < 3; count++) {
    const socket = connect(Number(port), 'localhost', () =>
      socket.write('GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n')
    )
      .on('error', () => {})
      .resume()
    await once(socket, 'close')
  }
  launched.kill('SIGTERM')
  const { stderr } = await launched.exit()
  t.equal(stderr.split('a client could not be connected over TLS').length, 2)
  t.match(
    stderr,
    /"level":40,.*could not be connected over TLS: http request; http:\/\/ or ws:\/\/ on the TLS port looks like this"/
  )
})
