import { once } from 'node:events'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { WebSocket } from 'ws'
import { listening } from '../support/gateway.js'
import { startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, bearer, ping } from '../support/keys.js'

const CANARY = 'pb_CANARY-0123456789-0123456789-0123456789-01'

t.test('no credential is ever written to the log, nor sent back, whatever becomes of it', async t => {
  let log = ''
  const out = new Writable({ write: (chunk, _encoding, done) => { log += String(chunk); done() } })
  const issuer = await startIssuer(t)
  const { app, url } = await listening(
    t,
    { apiKeys, oauth: issuer.options, limits: { maxWrongCredentials: 10_000 } },
    { loggerInstance: pino({ level: 'trace' }, out) }
  )
  const good = await issuer.sign({ sub: 'canary' })
  const bad = await issuer.sign({ aud: 'https://other.test' })
  const ticket = (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })).json<{ ticket: string }>()
    .ticket
  const unused = (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })).json<{ ticket: string }>()
    .ticket
  const secrets = [ADA, CANARY, good, bad, ticket, unused, ...[good, bad].flatMap(token => token.split('.').slice(1))]

  let replies = ''
  for (const secret of [ADA, CANARY, good, bad, unused]) {
    for (const method of ['GET', 'POST', 'PUT'] as const) {
      for (const path of ['/message', '/mcp', '/health', '/nowhere', '/ticket']) {
        for (const headers of [
          bearer(secret),
          { 'x-api-key': secret },
          { authorization: `Basic ${secret}` },
          { authorization: `Bearer ${secret} x` },
          {}
        ]) {
          for (const query of ['', `?access_token=${secret}`, `?token=${secret}&ticket=${secret}`]) {
            if (path === '/ticket' && method === 'POST') continue
            const { body, headers: sent } = await app.inject({
              method,
              url: path + query,
              headers: { ...headers, accept: 'application/json' } as Record<string, string>,
              ...(method === 'POST' ? { payload: ping } : {})
            })
            replies += body + JSON.stringify(sent)
          }
        }
      }
    }
  }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp?ticket=${ticket}`)
  await once(socket, 'open')
  socket.terminate()
  const refused = new WebSocket(`${url.replace('http', 'ws')}/mcp?ticket=${ticket}`)
  await once(refused, 'error')
  await app.close()

  t.ok(log.split('\n').length > 200, `${log.split('\n').length} lines of log`)
  t.match(log, 'unexpected \\"aud\\" claim value', 'which say why a token was refused')
  t.ok(replies.length > 10_000)
  for (const secret of secrets) {
    t.notOk(log.includes(secret), 'in the log')
    t.notOk(replies.includes(secret), 'in a reply')
  }
})
