import type { ServerResponse } from 'node:http'
import t from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { startHostileIssuer } from '../../support/environment/hostile-issuer.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { loggedGateway, signIn } from './place.js'

/** How a server answers a request without a token, what its state is, and why it cannot be signed in to. */
const ROWS: Array<[what: string, answer: (response: ServerResponse) => unknown, state: object, error: RegExp]> = [
  ['200', response => response.writeHead(200).end('{}'), { state: 'needs none' }, /^needs no sign-in: it answers without one$/],
  [
    '404 in MCP, as one that knows no handshake',
    response => response.writeHead(404, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}'),
    { state: 'needs none' },
    /^needs no sign-in: it answers without one$/
  ],
  ['405', response => response.writeHead(405).end(), { state: 'needs none' }, /^does not ask for a sign-in, but answers with status 405; see that its "url" is right$/],
  [
    '404 of a web server',
    response => response.writeHead(404).end('<html>'),
    { state: 'unknown', why: 'it answered with status 404; see that its "url" is right' },
    /^does not ask for a sign-in, but answers with status 404; see that its "url" is right$/
  ],
  [
    'a redirect',
    response => response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    { state: 'unknown', why: 'it answered with status 302; see that its "url" is right' },
    /^does not ask for a sign-in, but answers with status 302; see that its "url" is right$/
  ],
  [
    '403 without a challenge',
    response => response.writeHead(403).end(),
    { state: 'unknown', why: 'it answered with status 403; see that its "url" is right' },
    /./
  ],
  ['403 with one', response => response.writeHead(403, { 'www-authenticate': 'Bearer' }).end(), { state: 'needs sign-in' }, /./],
  ['401', response => response.writeHead(401).end(), { state: 'needs sign-in' }, /./],
  ['503', response => response.writeHead(503).end(), { state: 'unknown', why: 'it answered with status 503' }, /answers with status 503/]
]

for (const [what, answer, state, error] of ROWS) {
  t.test(`a server that answers with ${what} is said to be so`, async t => {
    const issuer = await startHostileIssuer(t)
    issuer.answers.set('/mcp', (_request, response) => { answer(response) })
    const options = {
      plugins: [],
      tools: false,
      data: await dataFolder(t),
      mcpServers: { linear: { type: 'http', url: `${issuer.url}/mcp` } }
    }
    const { app } = await loggedGateway(t, options)
    const { entries } = await app.mcp.upstreams.read(flatten(resolveOptions(options)))
    const [found] = await app.mcp.upstreams.signIns.states(entries, AbortSignal.timeout(10_000))
    t.match(found, { alias: 'linear', ...state })
    if (error.source === '.') return
    await t.rejects(signIn(app, options, async () => {}, undefined, AbortSignal.timeout(10_000)), { message: error })
  })
}
