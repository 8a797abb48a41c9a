import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient } from '../../../app.js'
import { GuardedFetch } from '../../../upstreams/sign-in/guarded-fetch.js'
import { browse } from '../../support/environment/authorization-server.js'
import { recordSpans } from '../../support/tracing.js'
import { until } from '../../support/wait.js'
import { Watcher } from '../../support/watcher.js'
import { loggedGateway, openPlace, signIn } from './place.js'

const call = { name: 'linear__echo', arguments: { text: 'hello' } }

t.test('a server that wants a sign-in says so, and is used as soon as a person has signed in', async t => {
  const { options, server } = await openPlace(t)
  const { app, log } = await loggedGateway(t, options)
  const state = () => app.mcp.upstreams.status()[0]?.state
  await until(() => state() === 'needs sign-in')
  t.match(log.join(''), /upstream linear needs a sign-in \(there is none yet\): run patchbay login linear/)
  t.match(app.mcp.health.now(), { status: 'degraded', reason: 'upstream linear needs a sign-in: run patchbay login linear' })
  const client = await createClient(app)
  await t.rejects(client.request('tools/call', call), {
    message: /needs a sign-in: there is none yet. Run patchbay login linear/,
    data: { code: 'PATCHBAY_SIGN_IN_REQUIRED', upstream: 'linear', command: 'patchbay login linear' }
  })
  const outcome = await signIn(app, options)
  t.match(outcome, { scopes: ['mcp'], isRenewable: true, told: [] })
  await until(() => state() === 'ready')
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] })
  t.equal(new Set(server.tokens).size, 1, 'one token')
})

t.test('a sign-in is for one URL: another query does not get its token, another fragment does', async t => {
  const { options, server } = await openPlace(t)
  const { app } = await loggedGateway(t, options)
  await signIn(app, options)
  await until(() => app.mcp.upstreams.status()[0]?.state === 'ready')
  await app.close()
  const withUrl = (url: string): typeof options => ({ ...options, mcpServers: { linear: { type: 'http', url } } })
  const before = server.tokens.length
  const { app: other } = await loggedGateway(t, withUrl(`${server.url}?tenant=other`))
  await until(() => ['needs sign-in', 'ready'].includes(other.mcp.upstreams.status()[0]?.state ?? ''))
  t.equal(other.mcp.upstreams.status()[0]?.state, 'needs sign-in')
  t.equal(server.tokens.length, before, 'no token was sent')
  const { app: same } = await loggedGateway(t, withUrl(`${server.url}#part`))
  await until(() => ['needs sign-in', 'ready'].includes(same.mcp.upstreams.status()[0]?.state ?? ''))
  t.equal(same.mcp.upstreams.status()[0]?.state, 'ready')
})

/** Hears of the bodies that are sent to token endpoints until the test ends. */
function recordBodies (t: Test): URLSearchParams[] {
  const bodies: URLSearchParams[] = []
  const { fetch } = GuardedFetch.prototype
  t.intercept(GuardedFetch.prototype, 'fetch', {
    value: async function (this: GuardedFetch, ...args: Parameters<typeof fetch>) {
      if (args[1] === 'the token endpoint') bodies.push(new URLSearchParams(args[2]?.body ?? ''))
      return await fetch.apply(this, args)
    }
  })
  return bodies
}

t.test('tokens are sealed with a key that only the account can read, and are in nothing that is told', async t => {
  const { options, server, withdrawn } = await openPlace(t)
  const spans = recordSpans(t)
  const bodies = recordBodies(t)
  const shown = { console: true, metrics: true, audit: true }
  const { app, log } = await loggedGateway(t, { ...options, ...shown })
  const watcher = await Watcher.open(t, app)
  let address = ''
  await signIn(app, options, async url => {
    address = url
    await browse(url)
  })
  await until(() => app.mcp.upstreams.status()[0]?.state === 'ready')
  const client = await createClient(app)
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] })
  for (const token of server.tokens) withdrawn.add(token)
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] })
  await until(() => JSON.stringify(watcher.batches).split('"linear__echo"').length > 2)
  const [, sent] = bodies
  t.match(bodies.map(body => body.get('grant_type')), ['authorization_code', 'refresh_token'])
  const secrets = [
    ...new Set(server.tokens),
    bodies[0]?.get('code'),
    bodies[0]?.get('code_verifier'),
    sent?.get('refresh_token'),
    new URL(address).searchParams.get('state')
  ].map(secret => String(secret))
  t.equal(secrets.length, 6, 'two access tokens, the code, the verifier, the refresh token, the state')
  t.ok(secrets.every(secret => secret.length > 16), 'all are known')
  const data = String(options.data)
  const mode = (name: string): number => statSync(join(data, name)).mode & 0o777
  t.equal(mode('sign-in.key'), 0o600)
  const files = ['patchbay.db', 'patchbay.db-wal'].map(name => readFileSync(join(data, name), 'latin1')).join('')
  t.ok(files.includes('upstreams/sign-ins'), 'it is stored')
  t.ok(log.some(line => line.includes('"audit"') || line.includes('tools/call linear__echo')), 'audit lines are there')
  const texts: Record<string, string> = {
    files,
    log: log.join(''),
    status: JSON.stringify(app.mcp.upstreams.status()),
    spans: JSON.stringify(spans),
    feed: JSON.stringify(watcher.batches)
  }
  for (const path of ['/health', '/metrics', '/console/']) {
    const { statusCode, body } = await app.inject(path)
    t.equal(statusCode, 200, path)
    texts[path] = body
  }
  t.ok(spans.length > 0)
  for (const [where, text] of Object.entries(texts)) {
    for (const secret of secrets) t.notOk(text.includes(secret), where)
  }
})

t.test('a browser elsewhere: the address it ended at is pasted', async t => {
  const { options } = await openPlace(t)
  const { app } = await loggedGateway(t, options)
  let paste = (_text: string): void => {}
  const pasted = new Promise<string>(resolve => { paste = resolve })
  async function * lines (): AsyncGenerator<string> {
    yield 'nonsense with spaces'
    yield await pasted
  }
  const outcome = await signIn(app, options, async url => paste((await browse(url, false)).url), lines())
  t.match(outcome, { scopes: ['mcp'], told: ['paste the whole address that the browser was sent to'] })
})
