import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { apiKeys } from '../../support/keys.js'
import { build, patchbay, type Options } from '../../../app.js'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

interface Line { level: number, msg: string, audit?: object }

function recorder () {
  const lines: Line[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Line)
      done()
    }
  })
  return { lines, loggerInstance: pino(out) }
}

/**
 * A host application that sets this on every request, and what it logged at `warn` and above, besides the refused
 * requests.
 */
async function host (t: Test, identity: unknown, options: Partial<Options> = {}) {
  const { lines, loggerInstance } = recorder()
  const app = Fastify({ loggerInstance }) as unknown as FastifyInstance
  t.teardown(async () => await app.close())
  if (identity !== undefined) {
    app.decorateRequest('identity')
    app.addHook('onRequest', async request => { request.identity = identity as never })
  }
  await app.register(patchbay, options)
  await app.ready()
  return {
    app,
    warnings: () => lines.filter(({ level, audit }) => level >= 40 && audit === undefined).map(({ msg }) => msg)
  }
}

const post = async (app: FastifyInstance) => await app.inject({ method: 'POST', url: '/message', payload: PING })

const WRONG: unknown[] = [
  {},
  false,
  0,
  '',
  'ada',
  ['mcp'],
  { principal: 'ada' },
  { principal: 'ada', scopes: ['mcp'] },
  { principal: 'ada', scopes: 'mcp' },
  { principal: null, scopes: 'all' },
  { principal: 7, scopes: new Set() },
  { principal: 'ada', scopes: new Set(), expires: '2030-01-01' },
  { principal: 'ada', scopes: new Set(), expires: NaN },
  { scopes: 'all', address: 1 }
]

t.test('an identity of another shape is refused, and the expected shape is logged once', async t => {
  for (const identity of WRONG) {
    const { app, warnings } = await host(t, identity)
    for (let times = 0; times < 2; times++) {
      t.match(
        await post(app),
        { statusCode: 401, headers: { 'www-authenticate': /^Bearer / } },
        JSON.stringify(identity)
      )
    }
    t.match((await post(app)).json(), {
      code: 'PATCHBAY_IDENTITY_MALFORMED',
      message: 'the application set an identity that cannot be used'
    })
    t.match(warnings(), [/request\.identity .*principal.*scopes.*Set/], JSON.stringify(identity))
    t.equal(warnings().length, 1)
  }
})

t.test('an identity of the right shape is accepted', async t => {
  for (const identity of [
    { principal: 'ada', scopes: new Set(['mcp']) },
    { principal: 'ada', scopes: 'all', expires: Infinity },
    { scopes: 'all' },
    { principal: undefined, scopes: 'all', address: '192.0.2.1', expires: undefined }
  ]) {
    const { app, warnings } = await host(t, identity)
    t.equal((await post(app)).statusCode, 200)
    t.strictSame(warnings(), [])
  }
})

t.test('a host application in which nothing identifies callers is warned at start', async t => {
  const { warnings } = await host(t, undefined)
  t.match(warnings(), [/callers are not identified.*apiKeys.*oauth.*allowAnonymous/])
  t.equal(warnings().length, 1)
})

t.test('no warning at start with identified callers, with none required, or in a standalone gateway', async t => {
  t.strictSame((await host(t, undefined, { apiKeys })).warnings(), [])
  t.strictSame((await host(t, undefined, { allowAnonymous: true })).warnings(), [])
  t.strictSame((await host(t, undefined, { http: false })).warnings(), [])
  const { lines, loggerInstance } = recorder()
  const app = await build({ ephemeral: true }, { loggerInstance })
  t.teardown(async () => await app.close())
  await app.ready()
  t.strictSame(lines.filter(({ level, audit }) => level >= 40 && audit === undefined), [])
})
