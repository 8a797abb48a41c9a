import t, { type Test } from 'tap'
import { asJson, asStream, host } from '../../support/host.js'
import { gateway } from '../../support/gateway.js'

const ORIGIN = 'https://app.example.com'
const EVIL = 'https://evil.example'

const serving = async (t: Test) => await gateway(t, { allowedOrigins: [ORIGIN] })

const preflight = (origin: string, url = '/mcp') => ({
  method: 'OPTIONS' as const,
  url,
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,mcp-session-id,mcp-protocol-version'
  }
})

t.test('a preflight request of an allowed page is answered with permission', async t => {
  const app = await serving(t)
  for (const origin of [ORIGIN, 'http://localhost:5173']) {
    const { statusCode, headers } = await app.inject(preflight(origin))
    t.equal(statusCode, 204)
    t.equal(headers['access-control-allow-origin'], origin)
    t.match(headers['access-control-allow-methods'], /GET.*POST.*DELETE/)
    t.match(headers['access-control-allow-headers'], /mcp-session-id/i)
    t.match(headers.vary, /Origin/i)
  }
})

t.test('a page that may ask may read the reply, be it JSON or a stream, and the session in it', async t => {
  const app = await serving(t)
  for (const request of [asJson, asStream]) {
    const { statusCode, headers } = await app.inject({
      ...request,
      url: '/mcp',
      headers: { ...request.headers, origin: ORIGIN }
    })
    t.equal(statusCode, 200)
    t.equal(headers['access-control-allow-origin'], ORIGIN)
    t.match(headers['access-control-expose-headers'], /Mcp-Session-Id/i)
  }
})

t.test('a page that may not ask is refused, and may not read why', async t => {
  const app = await serving(t)
  for (const request of [preflight(EVIL), { ...asJson, url: '/mcp', headers: { ...asJson.headers, origin: EVIL } }]) {
    const { statusCode, headers } = await app.inject(request)
    t.equal(statusCode, 403)
    t.equal(headers['access-control-allow-origin'], undefined)
  }
})

t.test('no page is allowed to send what the browser keeps for us', async t => {
  const { headers } = await (await serving(t)).inject(preflight(ORIGIN))
  t.equal(headers['access-control-allow-credentials'], undefined)
})

t.test('clients that are no pages see nothing of it', async t => {
  const app = await serving(t)
  const { statusCode, headers } = await app.inject({ ...asJson, url: '/mcp' })
  t.equal(statusCode, 200)
  t.equal(headers['access-control-allow-origin'], undefined)
})

t.test('in a host application the host decides', async t => {
  const app = await host(t, undefined, { allowedOrigins: [ORIGIN] })
  const { headers } = await app.inject({ ...asJson, headers: { ...asJson.headers, origin: ORIGIN } })
  t.equal(headers['access-control-allow-origin'], undefined)
})
