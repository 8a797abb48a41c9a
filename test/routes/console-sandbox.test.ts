import t from 'tap'
import { policyOf } from '../../routes/console/sandbox.js'
import { gateway } from '../support/gateway.js'
import { apiKeys } from '../support/keys.js'

const URL = '/console/sandbox.html'
const NOTHING =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src 'none'; " +
  "media-src data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; " +
  'frame-ancestors http://127.0.0.1:8080'

t.test('the sandbox of the console is a frame of it under the other name of this machine, without credentials', async t => {
  const app = await gateway(t, { apiKeys })
  const reply = await app.inject({ url: URL, headers: { host: 'localhost:8080' } })
  t.match(reply, {
    statusCode: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': NOTHING,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache'
    }
  })
  t.equal(reply.headers['x-frame-options'], undefined)
  t.equal(reply.headers['set-cookie'], undefined)
  t.match((await app.inject({ url: URL, headers: { host: '127.0.0.1' } })).headers['content-security-policy'], /frame-ancestors http:\/\/localhost$/)
  t.equal((await app.inject({ url: URL, headers: { host: 'localhost:8080', 'if-none-match': String(reply.headers.etag) } })).statusCode, 304)
  for (const host of ['[::1]:8080', '127.0.0.2:8080']) {
    t.match(await app.inject({ url: URL, headers: { host } }), { statusCode: 404, headers: { 'cache-control': 'no-store' } }, host)
  }
})

t.test('the console may have frames of its sandbox, where it has one', async t => {
  const app = await gateway(t, { allowedHosts: ['mcp.example.com'] })
  const policy = async (host: string): Promise<string> =>
    String((await app.inject({ url: '/console/', headers: { host } })).headers['content-security-policy'])
  t.match(await policy('127.0.0.1:8080'), /; frame-src http:\/\/localhost:8080$/)
  t.match(await policy('localhost:8080'), /; frame-src http:\/\/127\.0\.0\.1:8080$/)
  t.notMatch(await policy('mcp.example.com'), /frame-src/)
  t.equal((await app.inject({ url: URL, headers: { host: 'mcp.example.com' } })).statusCode, 404)
})

t.test('its policy has the domains that an app declared, and nothing else that is in the address', async t => {
  const query = {
    connectDomains: ['https://api.example.com', 'wss://b.example'],
    resourceDomains: 'https://*.cdn.example',
    frameDomains: 'https://c.example',
    baseUriDomains: 'https://d.example'
  }
  t.equal(policyOf(query, 'http://127.0.0.1:8080'),
    "default-src 'none'; script-src 'unsafe-inline' https://*.cdn.example; style-src 'unsafe-inline' https://*.cdn.example; " +
    'img-src data: https://*.cdn.example; font-src https://*.cdn.example; media-src data: https://*.cdn.example; ' +
    "connect-src https://api.example.com wss://b.example; frame-src https://c.example; object-src 'none'; " +
    "base-uri https://d.example; form-action 'none'; frame-ancestors http://127.0.0.1:8080")
  const app = await gateway(t)
  for (const wrong of ['*', "'self'", 'data:', 'https://a;script-src *', 'https://a, default-src *', 'https://a\r\nx: y', 'a.example']) {
    const url = `${URL}?connectDomains=${encodeURIComponent(wrong)}&resourceDomains=${encodeURIComponent(wrong)}`
    const { headers } = await app.inject({ url, headers: { host: 'localhost:8080' } })
    t.equal(headers['content-security-policy'], NOTHING, wrong)
  }
})
