import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import { redactingLog, redactor } from '../../upstreams/secrets.js'
import { overWebSocket, INITIALIZE, callOf } from '../app/mount-clients.js'
import { openStream } from '../support/event-reader.js'
import { gateway, listening } from '../support/gateway.js'
import { ADA, apiKeys, bearer } from '../support/keys.js'
import { modernMeta } from '../support/modern.js'
import { routesOf, VIEW } from '../support/routes.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { until } from '../support/wait.js'
import { openFixture, ways, type Way } from './fixture/open.js'

const COOKIE = 'cookie-CANARY-1234567890'
const HEADER = 'header-CANARY-1234567890'
const SENT = { ...bearer(ADA), cookie: `session=${COOKIE}`, 'x-own': HEADER, 'x-forwarded-for': '10.9.8.7' }
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Calls a tool over each transport, with a credential, a cookie and a header of the client. */
const visits: Record<string, (t: Test, url: string, body: string) => Promise<unknown>> = {
  'modern HTTP': async (_t, url) =>
    await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...JSON_HEADERS,
        ...SENT,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'u__reflect'
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'u__reflect', arguments: {}, _meta: modernMeta() }
      })
    }).then(async reply => await reply.text()),
  'POST /message': async (_t, url, body) =>
    await (await fetch(`${url}/message`, { method: 'POST', headers: { ...JSON_HEADERS, ...SENT }, body })).text(),
  'HTTP with a session': async (_t, url, body) => {
    const opened = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...SENT },
      body: INITIALIZE
    })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    return await (
      await fetch(`${url}/mcp`, { method: 'POST', headers: { ...JSON_HEADERS, ...SENT, ...session }, body })
    ).text()
  },
  'HTTP+SSE': async (t, url, body) => {
    const stream = await openStream(`${url}/sse`, { headers: SENT })
    t.teardown(() => stream.drop())
    const endpoint = (await stream.event())?.data ?? ''
    const post = async (text: string) => {
      await fetch(url + endpoint, { method: 'POST', headers: { ...JSON_HEADERS, ...SENT }, body: text })
      return await stream.message()
    }
    await post(INITIALIZE)
    return JSON.stringify(await post(body))
  },
  WebSocket: async (_t, url, body) => await overWebSocket(`${url}/mcp`, [INITIALIZE, body], SENT)
}

for (const way of Object.keys(ways) as Way[]) {
  for (const revision of [newestLegacy, ...(way === 'HTTP' ? [modern] : [])]) {
    t.test(
      `${way}, ${revision.version}: nothing that identifies the client reaches the upstream, over any transport`,
      async t => {
        const { server, entry } = await openFixture(t, way, revision, 'u')
        const { app, url } = await listening(t, { apiKeys, mcpServers: { u: entry } })
        await until(
          () => app.mcp.upstreams.status().every(({ state, stale }) => state === 'ready' && !stale),
          'the server'
        )
        for (const [name, visit] of Object.entries(visits)) {
          t.match(await visit(t, url, callOf('u__reflect')), /"result"/, name)
        }
        t.equal(server.runs.get('reflect'), Object.keys(visits).length)
        const seen = JSON.stringify(server.log.received)
        for (const secret of [ADA, COOKIE, HEADER, '10.9.8.7', 'key:ada']) t.notOk(seen.includes(secret), secret)
      }
    )
  }
}

/** An HTTP server that refuses everybody and repeats what it was sent. */
async function refusing (t: Test, status: number): Promise<string> {
  const server = createServer((request, reply) => {
    reply
      .writeHead(status, {
        'www-authenticate': 'Bearer realm="upstream", resource_metadata="https://upstream.test/"',
        'set-cookie': 'a=b'
      })
      .end(JSON.stringify(request.headers))
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close(); server.closeAllConnections() })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('an upstream that refuses our credential does not make us refuse the client\'s', async t => {
  for (const status of [401, 403]) {
    const app = await gateway(t, { apiKeys, mcpServers: { u: { url: `${await refusing(t, status)}/mcp` } } })
    await until(() => app.mcp.upstreams.status().some(({ lastError }) => lastError !== undefined), 'the refusal')
    const { statusCode, headers, body } = await app.inject({
      method: 'POST',
      url: '/message/u',
      headers: { ...JSON_HEADERS, ...bearer(ADA) },
      payload: callOf('anything')
    })
    t.equal(statusCode, 200)
    t.notOk('www-authenticate' in headers || 'set-cookie' in headers)
    t.match(JSON.parse(body), { error: { code: Number } })
    t.equal((await app.inject({ url: '/health', headers: bearer(ADA) })).statusCode, 200)
  }
})

t.test('no secret of an entry is in the log, in /health, in an error or in an audit line, however its server fails', async t => {
  let written = ''
  const out = new Writable({ write: (chunk, _encoding, done) => { written += String(chunk); done() } })
  const secret = (name: string): string => `${name}-CANARY-0123456789`
  const closed = 'http://127.0.0.1:1'
  const refuses = await refusing(t, 401)
  const talks = 'process.stderr.write(`my token is ${process.env.TOKEN} and ${process.argv.join(" ")}\\n`, () => process.exit(1))' // eslint-disable-line no-template-curly-in-string
  const mcpServers: Options['mcpServers'] = {
    'talking-child': {
      command: process.execPath,
      args: ['-e', talks, '--', '--api-key', secret('argument'), `--password=${secret('assigned')}`],
      env: { TOKEN: secret('environment') }
    },
    'noisy-child': {
      command: process.execPath,
      args: [
        '-e',
        'console.log(process.env.TOKEN); setInterval(() => {}, 1000); process.stdin.on("end", () => process.exit())'
      ],
      env: { TOKEN: secret('noise') }
    },
    'no-program': {
      command: '/does/not/exist',
      args: ['--token', secret('unstarted')],
      env: { TOKEN: secret('missing') }
    },
    refused: {
      url: `${refuses}/mcp?key=${secret('query')}`,
      headers: { authorization: `Bearer ${secret('bearer')}`, 'x-key': secret('header') }
    },
    unreachable: { url: `${closed.replace('//', `//ada:${secret('password')}@`)}/mcp?key=${secret('closed')}` },
    'closed-sse': {
      type: 'sse',
      url: `${closed}/sse?key=${secret('sse')}`,
      headers: { 'x-key': secret('sse-header') }
    },
    'closed-socket': {
      type: 'ws',
      url: `ws://127.0.0.1:1/mcp?key=${secret('socket')}`,
      headers: { 'x-key': secret('socket-header') }
    }
  }
  const app = await gateway(
    t,
    { apiKeys, tools: true, mcpServers, limits: { upstreamStartTimeout: 3_000 } },
    { loggerInstance: pino({ level: 'trace' }, out) }
  )
  await until(() => app.mcp.upstreams.status().every(({ lastError }) => lastError !== undefined), 'every failure')
  const client = await createClient(app)
  for (const { alias } of app.mcp.upstreams.status()) {
    written += String(await client.call(`${alias}__anything`).catch((error: unknown) => error))
    written += String(await app.mcp.upstreams.get(alias)?.shared().catch((error: unknown) => error))
    written += (
      await app.inject({
        method: 'POST',
        url: `/message/${alias}`,
        headers: { ...JSON_HEADERS, ...bearer(ADA) },
        payload: callOf('anything')
      })
    ).body
  }
  written += (await app.inject({ url: '/health', headers: bearer(ADA) })).body
  written += (await client.read('server://status')).text + (await client.call('health_check')).text
  t.match(
    written,
    /my token is \*\*\* and .* --api-key \*\*\*/,
    'what a server says of its failure is logged without its secrets'
  )
  t.strictSame([...new Set(written.match(/[\w-]*-CANARY-\w*/g) ?? [])], [])
})

/** A server that tells everybody what it was called with: in a line, and in an error of its next list. */
const TATTLER = `
  const write = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const tools = [{ name: 'tell', inputSchema: { type: 'object', properties: { key: { type: 'string' } } } }]
  let told
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') {
      const { protocolVersion } = params
      const capabilities = { tools: { listChanged: true } }
      write({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'tattler', version: '1' } } })
    } else if (method === 'tools/list') {
      write(told ? { id, error: { code: -32000, message: 'no list for ' + told } } : { id, result: { tools } })
    } else if (method === 'tools/call') {
      told = params.arguments.key
      process.stderr.write('the key is ' + told + '\\n')
      write({ id, result: { content: [] } })
      write({ method: 'notifications/tools/list_changed' })
    }
  })
`

t.test('a value that a view fixes is hidden in what the server says of it, also when the view is gone', async t => {
  let written = ''
  const out = new Writable({ write: (chunk, _encoding, done) => { written += String(chunk); done() } })
  const value = 'view-CANARY-0123456789'
  const app = await gateway(t, {
    apiKeys,
    tools: false,
    mcpServers: { u: { command: process.execPath, args: ['-e', TATTLER] } },
    views: { fixed: { override: { u__tell: { arguments: { key: { value } } } } } }
  }, { loggerInstance: pino({ level: 'debug' }, out) })
  await until(() => app.mcp.upstreams.status().every(({ stale }) => !stale), 'the lists')
  const client = await createClient(app, { view: 'fixed' })
  await client.call('u__tell')
  const lastError = (): string => app.mcp.upstreams.status()[0]?.lastError ?? ''
  await until(() => lastError().includes('no list for'), 'the failed list')
  t.match(lastError(), 'no list for ***')
  await until(() => written.includes('the key is'), 'the line')
  await app.mcp.curation.configure({ fixed: { override: { u__tell: { arguments: { key: { value: 'another' } } } } } })
  await app.mcp.curation.configure({})
  const line = (): number => written.split('the key is ***').length
  const before = line()
  const server = await app.mcp.upstreams.get('u')?.shared()
  await server?.request({ method: 'tools/call', params: { name: 'tell', arguments: { key: value } } })
  await until(() => line() > before, 'the line of after the view')
  written += (await app.inject({ url: '/health', headers: bearer(ADA) })).body
  t.match(written, /standard error of upstream u: the key is \*\*\*/)
  t.notMatch(written, /view-CANARY/)
})

t.test('values that may be secrets are hidden, and other texts are left as they are', async t => {
  const stdio = redactor({
    address: {
      kind: 'stdio',
      command: 'node',
      args: ['server.js', '--token', 'abcdefgh', '--port', '8080', '--db=postgres://ada:pass%2Fword@db/x', '-k'],
      env: { A: 'a "quoted" value', SHORT: 'yes' },
      cwd: undefined
    }
  })
  t.equal(
    stdio('server.js --token abcdefgh, a "quoted" value, yes, 8080, pass%2Fword, pass/word'),
    'server.js --token ***, ***, yes, 8080, ***, ***'
  )
  const http = redactor({
    address: {
      kind: 'http',
      url: 'https://example.test/mcp?key=query%20value',
      headers: { authorization: 'Bearer 0123456789' }
    }
  })
  t.equal(
    http('https://example.test/mcp?key=query%20value, query value, Bearer 0123456789, 0123456789'),
    'https://example.test/mcp?key=***, ***, ***, ***'
  )
})

t.test('secrets of several lines, and secrets in JSON and base64, are hidden', async t => {
  const pem = '-----BEGIN KEY-----\nMIIMULTILINE1SECRET\r\nMIIMULTILINE2SECRET==\n-----END KEY-----\n'
  const quoted = 'pass"word\\with\tall'
  const plain = 'tök-en/0123456789+abc'
  const redact = redactor({
    address: { kind: 'stdio', command: 'node', args: [], env: { pem, quoted, plain, multi: 'ab\ncd' }, cwd: undefined }
  })
  for (const line of pem.trim().split(/\r?\n/)) t.equal(redact(`< ${line} >`), '< *** >')
  t.equal(redact(JSON.stringify({ quoted })), '{"quoted":"***"}')
  t.notMatch(redact(JSON.stringify({ pem })), /MULTILINE/)
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
      for (const after of ['', '\n', ' and more']) {
        const text = Buffer.from(`${before}${plain}${after}`).toString(encoding)
        const hidden = redact(text)
        t.ok(
          hidden.includes('***') && hidden.length <= 3 + before.length * 2 + after.length * 2 + 12,
          `${JSON.stringify([before, after])} ${encoding}: ${hidden}`
        )
      }
    }
    t.equal(redact(`key ${Buffer.from(pem.trim()).toString(encoding)}!`), 'key ***!')
  }
  t.equal(redact('ab cd, a text of no interest'), 'ab cd, a text of no interest')
})

t.test('errors that are logged are redacted, with their stacks, members and causes', async t => {
  const logged: object[] = []
  const redact = redactor({
    address: { kind: 'stdio', command: 'node', args: [], env: { TOKEN: 'token-CANARY-1' }, cwd: undefined }
  })
  const log = redactingLog({ warn: (context: object) => { logged.push(context) } }, ['warn'], redact)
  const cause: Error & { cause?: unknown } = new Error('no token-CANARY-1 here')
  cause.cause = cause
  log.warn(
    { err: Object.assign(new TypeError('bad token-CANARY-1', { cause }), { path: '/x/token-CANARY-1', code: 7 }) },
    'failed'
  )
  const [{ err }] = logged as [{ err: Error & { path: string, code: number } }]
  t.ok(err instanceof Error)
  t.match(err, { name: 'TypeError', message: 'bad ***', path: '/x/***', code: 7, cause: { message: 'no *** here' } })
  t.match(err.stack, /^TypeError: bad \*\*\*/)
  t.notMatch(inspect(err, { depth: 20, showHidden: true }), /CANARY/)
})

t.test('no HTTP request, method or tool of a client sets what is started or dialled', async t => {
  const app = await gateway(t, { tools: true, plugins: [async fastify => { fastify.mcp.views.open(VIEW) }] })
  const entry = { command: process.execPath, args: ['-e', ''], url: 'http://127.0.0.1:1/mcp' }
  const payload = { mcpServers: { evil: entry }, servers: { evil: entry }, mcpConfig: ['/tmp/evil.json'], ...entry }
  for (const [method, url] of routesOf(app)) {
    if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') continue
    for (const body of [payload, { jsonrpc: '2.0', id: 1, method: 'upstreams/configure', params: payload }]) {
      const { statusCode } = await app.inject({
        method: method as 'POST',
        url: `${url}?${new URLSearchParams({ command: 'evil', mcpServers: '{}' }).toString()}`,
        headers: JSON_HEADERS,
        payload: body
      })
      t.ok(statusCode < 500, `${method} ${url}`)
    }
  }
  const client = await createClient(app, { capabilities: { experimental: payload } })
  for (const method of ['upstreams/configure', 'upstreams/add', 'servers/add', 'mcpServers/set', 'config/set']) {
    await t.rejects(client.request(method, payload), { code: -32601 }, method)
  }
  const { tools } = await client.request('tools/list') as { tools: Array<{ inputSchema: { properties?: object } }> }
  for (const {
    inputSchema: { properties = {} }
  } of tools) {
    t.strictSame(
      Object.keys(properties).filter(name => /^(mcpServers|mcpConfig|servers|env|url)$/.test(name)),
      []
    )
  }
  t.strictSame(app.mcp.upstreams.status(), [])
})
