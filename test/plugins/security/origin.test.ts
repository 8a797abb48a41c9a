import t from 'tap'
import { ping } from '../../support/keys.js'
import { gateway } from '../../support/gateway.js'

const HOSTS: Array<[host: string, status: number]> = [
  ['localhost', 200],
  ['localhost:8080', 200],
  ['LOCALHOST', 200],
  ['127.0.0.1', 200],
  ['127.0.0.1:1', 200],
  ['[::1]', 200],
  ['[::1]:8080', 200],
  ['127.0.0.2', 200],
  ['127.1:8080', 200],
  ['localhost.', 200],
  ['LOCALHOST.:8080', 200],
  ['127.0.0.1.', 200],
  ['api.example.com', 200],
  ['API.example.com:9', 200],
  ['exact.example.com:8443', 200],
  ['API.EXAMPLE.COM.', 200],
  ['api.example.com.:9', 200],
  ['exact.example.com.:8443', 200],
  ['full.example.com', 200],
  ['FULL.example.com.', 200],
  ['port.example.com:8443', 200],
  ['port.example.com.:8443', 200],
  ['port.example.com', 403],
  ['api.example.com..', 403],
  ['localhost..', 403],
  ['.', 403],
  ['.localhost', 403],
  ['exact.example.com', 403],
  ['exact.example.com:1', 403],
  ['evil.example', 403],
  ['localhost.evil.example', 403],
  ['evil.example#localhost', 403],
  ['evil.example/localhost', 403],
  ['localhost@evil.example', 403],
  ['evil@localhost', 403],
  ['localhost?x', 403],
  ['127.0.0.1.nip.io', 403],
  ['api.example.com.evil.example', 403],
  [' ', 403],
  ['a b', 403],
  ['[::2]', 403]
]

const ORIGINS: Array<[origin: string, status: number]> = [
  ['http://localhost', 200],
  ['http://localhost:5173', 200],
  ['https://localhost', 200],
  ['http://127.0.0.1:3000', 200],
  ['http://[::1]:3000', 200],
  ['https://app.example.com', 200],
  ['HTTPS://App.Example.com', 200],
  ['https://app.example.com.', 200],
  ['http://localhost.:5173', 200],
  ['https://full.example.com', 200],
  ['https://full.example.com.', 200],
  ['https://app.example.com..', 403],
  ['https://app.example.com.:444', 403],
  ['http://app.example.com', 403],
  ['https://app.example.com:444', 403],
  ['https://evil.example', 403],
  ['null', 403],
  ['', 403],
  ['file://', 403],
  ['http://localhost.evil.example', 403],
  ['http://evil.example#localhost', 403],
  ['http://localhost@evil.example', 403],
  ['http://user@localhost', 403],
  ['chrome-extension://localhost', 403],
  ['localhost', 403],
  ['http://localhost/path', 403]
]

t.test('hosts', async t => {
  const app = await gateway(t, {
    allowedHosts: ['api.example.com', 'exact.example.com:8443', 'Full.Example.com.', 'port.example.com.:8443']
  })
  for (const [host, status] of HOSTS) {
    t.test(`Host ${JSON.stringify(host)}: ${status}`, async t =>
      t.equal(
        (await app.inject({ method: 'POST', url: '/message', payload: ping, headers: { host } })).statusCode,
        status
      )
    )
  }
})

t.test('origins', async t => {
  const app = await gateway(t, { allowedOrigins: ['https://app.example.com', 'https://Full.example.com.'] })
  for (const [origin, status] of ORIGINS) {
    t.test(`Origin ${JSON.stringify(origin)}: ${status}`, async t =>
      t.equal((await app.inject({ url: '/health', headers: { origin } })).statusCode, status)
    )
  }
})

const OWN: Array<[host: string, origin: string, status: number]> = [
  ['api.example.com', 'https://api.example.com', 200],
  ['api.example.com', 'http://api.example.com', 200],
  ['API.example.com', 'https://api.example.com', 200],
  ['api.example.com.', 'https://api.example.com.', 200],
  ['api.example.com:8443', 'https://api.example.com:8443', 200],
  ['api.example.com:443', 'https://api.example.com', 200],
  ['api.example.com:80', 'http://api.example.com', 200],
  ['api.example.com', 'https://api.example.com:8443', 403],
  ['api.example.com:8443', 'https://api.example.com', 403],
  ['api.example.com:80', 'https://api.example.com', 403],
  ['api.example.com:443', 'http://api.example.com', 403],
  ['api.example.com', 'https://other.example.com', 403],
  ['other.example.com', 'https://api.example.com', 403],
  ['localhost', 'https://api.example.com', 403],
  ['api.example.com', 'https://api.example.com.evil.example', 403],
  ['api.example.com', 'https://evil@api.example.com', 403],
  ['api.example.com', 'https://api.example.com/path', 403],
  ['api.example.com', 'ws://api.example.com', 403],
  ['api.example.com', 'chrome-extension://api.example.com', 403],
  ['api.example.com', 'api.example.com', 403],
  ['api.example.com', 'null', 403]
]

t.test('a page of this server itself is no foreign page, wherever its Host is allowed', async t => {
  const app = await gateway(t, { allowedHosts: ['api.example.com', 'other.example.com'] })
  for (const [host, origin, status] of OWN) {
    t.test(`Host ${host}, Origin ${origin}: ${status}`, async t =>
      t.equal(
        (await app.inject({ method: 'POST', url: '/message', payload: ping, headers: { host, origin } })).statusCode,
        status
      )
    )
  }
  t.test('a Host that is not allowed has no pages of its own', async t => {
    for (const url of ['/health', '/message']) {
      t.equal(
        (await app.inject({ url, headers: { host: 'evil.example', origin: 'http://evil.example' } })).statusCode,
        403,
        url
      )
    }
  })
  t.test('two origins are none', async t => {
    t.equal(
      (
        await app.inject({
          url: '/health',
          headers: {
            host: 'api.example.com',
            origin: ['https://api.example.com', 'https://api.example.com'] as unknown as string
          }
        })
      ).statusCode,
      403
    )
  })
})

t.test('where requests come over TLS, a page without it is not of this server', async t => {
  const app = await gateway(t, { allowedHosts: ['api.example.com'], trustProxy: true })
  const statusOf = async (forwarded: string, origin: string): Promise<number> =>
    (await app.inject({ url: '/health', headers: { host: 'api.example.com', 'x-forwarded-proto': forwarded, origin } }))
      .statusCode
  t.equal(await statusOf('https', 'https://api.example.com'), 200)
  t.equal(await statusOf('https', 'http://api.example.com'), 403)
  t.equal(await statusOf('http', 'http://api.example.com'), 200)
})

t.test('without trustProxy a header does not say that a request came over TLS', async t => {
  const app = await gateway(t, { allowedHosts: ['api.example.com'] })
  for (const origin of ['https://api.example.com', 'http://api.example.com']) {
    t.equal(
      (await app.inject({ url: '/health', headers: { host: 'api.example.com', 'x-forwarded-proto': 'https', origin } }))
        .statusCode,
      200,
      origin
    )
  }
})

t.test('the guard comes before everything else', async t => {
  const app = await gateway(t)
  const headers = { host: 'evil.example' }
  for (const request of [
    { method: 'POST' as const, url: '/mcp', payload: 'x', headers: { ...headers, 'content-type': 'text/plain' } },
    { method: 'POST' as const, url: '/message', payload: 'x'.repeat(5_000_000), headers },
    { method: 'PUT' as const, url: '/mcp', headers },
    { method: 'GET' as const, url: '/nowhere', headers },
    { method: 'OPTIONS' as const, url: '/mcp', headers }
  ]) t.equal((await app.inject(request)).statusCode, 403, `${request.method} ${request.url}`)
})

t.test('a refusal names the option that would help', async t => {
  const app = await gateway(t)
  t.match((await app.inject({ url: '/sse', headers: { host: 'evil.example' } })).json(), {
    error: { message: /"evil\.example".*allowedHosts/ }
  })
  t.match((await app.inject({ url: '/health', headers: { origin: 'https://evil.example' } })).json(), {
    error: { message: /allowedOrigins/ }
  })
})
