import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import t from 'tap'
import { build, patchbay } from '../../app.js'
import consoleRoutes from '../../routes/console.js'
import { encodingFor } from '../../routes/console/files.js'
import { clientMetadata, loginOf } from '../../routes/console/client-metadata.js'
import { matchesTag } from '../../routes/console/serve.js'
import { CONSOLE, consoleFiles, consolePaths } from '../support/console-files.js'
import { gateway } from '../support/gateway.js'
import { host } from '../support/host.js'
import { apiKeys, listed } from '../support/keys.js'

const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob: data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types check-worker"
/** The page may have frames of its sandbox, which is on another origin: see console-sandbox.test.ts. */
const POLICY_OF_PAGE = `${POLICY}; frame-src http://127.0.0.1`
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': /camera=\(\)/,
  vary: 'Accept-Encoding'
}
const OAUTH = {
  issuer: 'http://127.0.0.1:1/realm',
  resource: 'https://mcp.example.com/gate/mcp',
  jwks: 'http://127.0.0.1:1/jwks'
}
const files = consoleFiles().filter(({ name }) => name !== 'sandbox.html')
const bytesOf = (name: string): Buffer =>
  readFileSync(
    new URL(
      name.replace(/^index\.html/, () => files.find(file => file.name === 'index.html')?.file ?? name),
      CONSOLE
    )
  )

t.test(
  'every file of the build is served as it is, with its type, its headers and for how long it is good',
  async t => {
    const app = await gateway(t)
    t.ok(files.some(({ name }) => name === 'index.html'))
    for (const { name, type, hash } of files) {
      const url = `/console/${name === 'index.html' ? '' : name}`
      const response = await app.inject(url)
      t.match(
        response,
        {
          statusCode: 200,
          headers: {
            ...HEADERS,
            ...(name === 'index.html' && { 'content-security-policy': POLICY_OF_PAGE }),
            'content-type': type,
            etag: `"${hash}"`,
            'cache-control': name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable'
          }
        },
        url
      )
      t.ok(response.rawPayload.equals(bytesOf(name)), `the bytes of ${url}`)
      t.equal(response.headers['set-cookie'], undefined)
    }
  }
)

t.test('the docs name what the policy lets the page start', async t => {
  const page = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8')
  for (const part of ["worker-src 'self'", 'trusted-types check-worker']) t.ok(POLICY.includes(part), part)
  t.match(page, /Trusted Types, `check-worker`.*`worker-src 'self'`/)
})

t.test('the compressed forms have the same bytes in them, and entity tags of their own', async t => {
  const app = await gateway(t)
  for (const { name, hash } of files) {
    const url = `/console/${name === 'index.html' ? '' : name}`
    const brotli = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    t.match(brotli.headers, { 'content-encoding': 'br', etag: `"${hash}-br"`, vary: 'Accept-Encoding' })
    t.ok(brotliDecompressSync(brotli.rawPayload).equals(bytesOf(name)), `${url} in brotli`)
    const gzip = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    t.match(gzip.headers, { 'content-encoding': 'gzip', etag: `"${hash}-gzip"` })
    t.ok(gunzipSync(gzip.rawPayload).equals(bytesOf(name)), `${url} in gzip`)
  }
})

t.test('the encoding is the one that is preferred, and of two the smallest', async t => {
  const rows: Array<[string | undefined, string | undefined]> = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['zbr', undefined],
    [',, gzip ,', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['BR ; Q=1.0', 'br'],
    ['br; q=1', 'br'],
    ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0.001', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0', undefined],
    ['br;q=0.000', undefined],
    ['br ;\tQ=0', undefined],
    ['br; q=0 , gzip ; q=0.', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['*;q=0, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.5, *;q=0.1', 'gzip'],
    ['* ; Q=0.0, BR', 'br'],
    ['br;q=x, gzip', 'gzip'],
    ['br;q=2', undefined],
    ['br;q=', undefined],
    ['br;q=-1', undefined],
    ['gzip, gzip;q=0', undefined]
  ]
  for (const [accepted, encoding] of rows) t.equal(encodingFor(accepted), encoding, String(accepted))
})

t.test('what a browser has already is not sent again', async t => {
  const app = await gateway(t)
  for (const url of ['/console/', ...consolePaths().slice(1)]) {
    const { headers: { etag } } = await app.inject({ url, headers: { 'accept-encoding': 'br' } })
    const again = await app.inject({ url, headers: { 'accept-encoding': 'br', 'if-none-match': String(etag) } })
    t.match(again, { statusCode: 304, payload: '', headers: { etag } }, url)
    if (!url.endsWith('sandbox.html')) {
      t.equal(again.headers['content-security-policy'], url === '/console/' ? POLICY_OF_PAGE : POLICY)
    }
    t.equal(
      (await app.inject({ url, headers: { 'if-none-match': String(etag) } })).statusCode,
      200,
      'another form is another thing'
    )
  }
  t.ok(
    matchesTag('W/"a", "b"', '"a"') &&
      matchesTag('*', '"a"') &&
      !matchesTag('"b"', '"a"') &&
      !matchesTag(undefined, '"a"')
  )
})

t.test('without the slash the page is somewhere else, and says where, whatever a proxy puts before it', async t => {
  const app = await gateway(t)
  t.match(await app.inject('/console'), {
    statusCode: 308,
    headers: { location: 'console/', 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
  })
  t.match(await app.inject('/console?a=//evil.example'), {
    statusCode: 308,
    headers: { location: 'console/?a=//evil.example' }
  })
  t.match(await app.inject('/console?a=b?c&d=?'), { statusCode: 308, headers: { location: 'console/?a=b?c&d=?' } })
  t.match(await app.inject('/console/?a=b'), { statusCode: 200, headers: { 'content-type': /html/ } })
})

t.test('HEAD has the headers alone, and every other method is refused', async t => {
  const app = await gateway(t)
  for (const url of ['/console/', ...consolePaths()]) {
    const head = await app.inject({ method: 'HEAD', url })
    t.match(head, { statusCode: url === '/console' ? 308 : 200, payload: '' }, url)
    if (url !== '/console') t.equal(head.headers['content-length'], (await app.inject(url)).headers['content-length'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      t.match(
        await app.inject({ method, url }),
        { statusCode: 405, headers: { allow: 'GET, HEAD' } },
        `${method} ${url}`
      )
    }
  }
})

t.test('what is not in the list is not there, and nothing is said about files', async t => {
  const app = await gateway(t)
  for (const name of [
    'files.json',
    'index.html',
    'index.html.gz',
    'main.js',
    '..%2fapp.js',
    '%2e%2e/app.js',
    `${files[0]?.name ?? ''}.br`,
    'client.json'
  ]) {
    const response = await app.inject(`/console/${name}`)
    t.equal(response.statusCode, 404, name)
    t.notMatch(response.payload, /dist|ENOENT|node_modules/)
  }
})

t.test('it needs no credential, counts against no rate, and is served while the gateway shuts down', async t => {
  const app = await gateway(t, { apiKeys, rate: 60, burst: 1 })
  for (let count = 0; count < 5; count++) {
    for (const url of ['/console/', ...consolePaths().slice(1)]) t.equal((await app.inject(url)).statusCode, 200, url)
  }
  await app.mcp.dispatcher.lifecycle.drain(1)
  t.equal((await app.inject({ url: '/health' })).statusCode, 503)
  t.equal((await app.inject('/console/')).statusCode, 200)
})

t.test('a foreign Host or Origin gets no page', async t => {
  const app = await gateway(t)
  for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
    for (const url of ['/console/', ...consolePaths()]) {
      t.equal((await app.inject({ url, headers })).statusCode, 403, url)
    }
  }
  t.match(await app.inject({ url: '/console/', headers: { origin: 'http://localhost:5173' } }), {
    statusCode: 200,
    headers: { vary: 'Origin, Accept-Encoding' }
  })
})

t.test(
  'it is there without being asked for where other machines do not reach it, and elsewhere when it is',
  async t => {
    const rows: Array<[options: object, status: number]> = [
      [{}, 200],
      [{ host: 'localhost' }, 200],
      [{ host: '::1' }, 200],
      [{ console: true }, 200],
      [{ console: false }, 404],
      [{ host: '0.0.0.0' }, 404],
      [{ host: '192.0.2.1' }, 404],
      [{ host: '0.0.0.0', console: true }, 200],
      [{ http: false, console: true }, 404]
    ]
    for (const [options, status] of rows) {
      const app = await gateway(t, options)
      for (const url of ['/console/', ...consolePaths().slice(1)]) {
        t.equal((await app.inject(url)).statusCode, status, JSON.stringify(options))
      }
    }
  }
)

t.test('it is below the prefix', async t => {
  const app = await gateway(t, { prefix: '/ai/x' })
  t.match(await app.inject('/ai/x/console'), { statusCode: 308, headers: { location: 'console/' } })
  for (const path of ['/console/', ...consolePaths().slice(1)]) {
    t.equal((await app.inject(`/ai/x${path}`)).statusCode, 200)
    t.equal((await app.inject(path)).statusCode, 404)
  }
})

t.test(
  'in a host application it is there when it is asked for, and the routes of the host have none of its headers',
  async t => {
    t.equal((await (await host(t)).inject('/ai/console/')).statusCode, 404)
    const app = await host(t, undefined, { console: true })
    for (const path of ['/console/', ...consolePaths().slice(1)]) {
      const { 'content-security-policy': _, ...headers } = HEADERS
      if (path.endsWith('sandbox.html')) continue
      t.match(await app.inject(`/ai${path}`), { statusCode: 200, headers })
    }
    for (const url of ['/own', '/own/broken', '/nowhere']) {
      const { headers } = await app.inject(url)
      for (const name of Object.keys(HEADERS)) t.equal(headers[name], undefined, `${name} of ${url}`)
    }
    t.equal((await app.inject({ method: 'POST', url: '/ai/console/' })).statusCode, 405)
  }
)

t.test('it works in a host application that ignores slashes, and below the prefix of a scope', async t => {
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  t.teardown(async () => await app.close())
  await app.register(
    async scope => {
      await scope.register(patchbay, { console: true, oauth: OAUTH })
    },
    { prefix: '/scope' }
  )
  t.match(await app.inject('/scope/console'), { statusCode: 308, headers: { location: 'console/' } })
  t.match(await app.inject('/scope/console/'), { statusCode: 200, headers: { 'content-type': /html/ } })
  t.match(
    (await app.inject('/scope/console/login.json')).json(),
    { credential: 'maybe', oauth: { redirectUri: 'https://mcp.example.com/gate/console/' } },
    'the application may know its users by a cookie'
  )
})

t.test('with OAuth the page may ask the issuer, and knows which client it is', async t => {
  const app = await gateway(t, { oauth: OAUTH })
  const policy = POLICY_OF_PAGE.replace("connect-src 'self'", "connect-src 'self' http://127.0.0.1:1")
  t.equal((await app.inject('/console/')).headers['content-security-policy'], policy)
  const client = 'https://mcp.example.com/gate/console/client.json'
  t.match(await app.inject('/console/login.json'), {
    statusCode: 200,
    headers: { 'content-type': /^application\/json/, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
  })
  t.strictSame((await app.inject('/console/login.json')).json(), {
    credential: 'asked',
    oauth: {
      clientId: client,
      redirectUri: 'https://mcp.example.com/gate/console/',
      metadata: 'https://mcp.example.com/.well-known/oauth-protected-resource/gate/mcp'
    }
  })
  t.match((await app.inject('/console/client.json')).json(), {
    client_id: client,
    redirect_uris: ['https://mcp.example.com/gate/console/'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code']
  })
})

t.test('the page is told whether a credential is asked for, so that it need not try without', async t => {
  t.strictSame((await (await gateway(t)).inject('/console/login.json')).json(), { credential: 'none' })
  t.strictSame((await (await gateway(t, { apiKeys })).inject('/console/login.json')).json(), { credential: 'asked' })
})

t.test('a console that is registered at the authorization server has no metadata document', async t => {
  const app = await gateway(t, { oauth: { ...OAUTH, consoleClientId: 'console-1' } })
  t.match((await app.inject('/console/login.json')).json(), { oauth: { clientId: 'console-1' } })
  t.equal((await app.inject('/console/client.json')).statusCode, 401, 'as everything that is not there')
  await t.rejects(build({ oauth: { ...OAUTH, consoleClientId: '' } }), {
    message: /option oauth\.consoleClientId must be the id under which/
  })
})

t.test('the page of a login is beside the endpoint, or at the origin that the resource names', async t => {
  const pageOf = (resource: string, base: string): string =>
    loginOf({ issuer: 'https://a.example', resource }, base).redirectUri
  t.equal(pageOf('https://mcp.example.com/mcp', ''), 'https://mcp.example.com/console/')
  t.equal(
    pageOf('https://mcp.example.com/x/mcp', '/y'),
    'https://mcp.example.com/x/console/',
    'a proxy may serve another path'
  )
  t.equal(pageOf('https://mcp.example.com', '/ai'), 'https://mcp.example.com/ai/console/')
  t.match(clientMetadata('shop', { clientId: 'c', redirectUri: 'r' }), { client_name: 'Console of shop' })
})

t.test('a file that cannot be read is a 404 that no cache keeps', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-console-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'files.json'),
    JSON.stringify([
      { name: 'gone.abc.js', type: 'text/javascript', hash: 'abc' },
      { name: 'index.html', type: 'text/html', hash: 'def' }
    ])
  )
  const app = await build({ console: false })
  t.teardown(async () => await app.close())
  await app.register(consoleRoutes, { name: 'x', base: '', isGuarded: false, folders: [pathToFileURL(`${folder}/`)] })
  for (const url of ['/console/gone.abc.js', '/console/']) {
    const response = await app.inject({ url, headers: { 'accept-encoding': 'br' } })
    t.match(response, {
      statusCode: 404,
      headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
    })
    for (const name of ['etag', 'content-encoding']) t.equal(response.headers[name], undefined, `${name} of ${url}`)
  }
  writeFileSync(join(folder, 'gone.abc.js'), 'x')
  t.match(
    await app.inject('/console/gone.abc.js'),
    { statusCode: 200, payload: 'x', headers: { etag: '"abc"', 'cache-control': /immutable/ } },
    'it is read again'
  )
  t.match(await app.inject({ url: '/console/gone.abc.js', headers: { 'if-none-match': '"abc"' } }), {
    statusCode: 304,
    headers: { etag: '"abc"', 'cache-control': /immutable/ }
  })
})

t.test('a build without the files says so, and serves everything else', async t => {
  const warnings: unknown[] = []
  const app = await build({ console: false, apiKeys: [listed('ada', 'a')] })
  t.teardown(async () => await app.close())
  const log = Object.assign(Object.create(app.log) as typeof app.log, {
    warn: (sentence: unknown) => warnings.push(sentence)
  })
  await app.register(async scope => {
    Object.defineProperty(scope, 'log', { value: log })
    await scope.register(consoleRoutes, {
      name: 'x',
      base: '',
      isGuarded: true,
      folders: [new URL('file:///nowhere/')]
    })
  })
  t.match(warnings, [/console is not served.*npm run build/])
  t.equal((await app.inject('/health')).statusCode, 200)
})
