import { Writable } from 'node:stream'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { gateway } from '../support/gateway.js'
import { RESOURCE, startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, bearer, listed, ping } from '../support/keys.js'

const OLD = 'pb_old-0123456789-0123456789-0123456789-012'

/** A gateway with keys and an issuer, and the audit lines of one refused request. */
async function reasons (t: Test, withIssuer = true) {
  const lines: Array<{ audit?: Record<string, unknown> }> = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as object)
      done()
    }
  })
  const issuer = await startIssuer(t)
  const keys = [...apiKeys, listed('eve', OLD, ['mcp'], { expires: '2020-01-01' })]
  const app = await gateway(
    t,
    { apiKeys: keys, ...(withIssuer ? { oauth: issuer.options } : {}) },
    { loggerInstance: pino(out) }
  )
  const audited = async (headers: Record<string, string>, query = '') => {
    lines.length = 0
    const { statusCode, body } = await app.inject({ method: 'POST', url: `/message${query}`, payload: ping, headers })
    const [audit, ...more] = lines.flatMap(line => line.audit === undefined ? [] : [line.audit])
    t.strictSame(more, [], 'one line')
    return { statusCode, body, audit, log: JSON.stringify(lines) }
  }
  return { issuer, audited }
}

t.test('the audit line of a refused credential has the reason; the reply does not', async t => {
  const { issuer, audited } = await reasons(t)
  const stranger = await issuer.addKey('ES256', 'unpublished')
  issuer.signers.pop()
  const forged = { ...stranger, kid: issuer.signers[0]?.kid as string }
  const [head, , signature] = (await issuer.sign()).split('.')
  const other = 'https://other.test/mcp'
  const rows: Array<[what: string, headers: Record<string, string>, expected: object, query?: string]> = [
    ['nothing', {}, { status: 401, reason: 'no_credential' }],
    ['another scheme', { authorization: `Basic ${ADA}` }, { status: 401, reason: 'not_bearer' }],
    ['a key in the URL', {}, { status: 401, reason: 'credential_in_url' }, `?token=${ADA}`],
    ['two tokens', bearer(`${ADA} ${ADA}`), { status: 400, reason: 'malformed_credential', detail: /one token/ }],
    ['an unknown key', bearer('pb_unknown'), { status: 401, reason: 'unknown_credential', detail: /neither/ }],
    ['an expired key', bearer(OLD), { status: 401, reason: 'expired_key', detail: 'key:eve' }],
    ['an expired token', bearer(await issuer.sign({ exp: 1 })), { status: 401, reason: 'expired_token' }],
    [
      'a token for another resource',
      bearer(await issuer.sign({ aud: other })),
      { status: 401, reason: 'wrong_audience', detail: `given ${other}` }
    ],
    [
      'a token for two others',
      bearer(await issuer.sign({ aud: [other, 'b\u001b[2J'] })),
      { status: 401, reason: 'wrong_audience', detail: /given https:\/\/other\.test\/mcp and b\?\[2J$/ }
    ],
    [
      'a token of another issuer',
      bearer(await issuer.sign({ iss: 'https://else.test' })),
      { status: 401, reason: 'wrong_issuer', detail: `wanted ${issuer.url}, given https://else.test` }
    ],
    ['a forged token', bearer(await issuer.sign({}, {}, forged)), { status: 401, reason: 'wrong_signature' }],
    [
      'a changed token',
      bearer([head, Buffer.from('{"sub":"eve"}').toString('base64url'), signature].join('.')),
      { status: 401, reason: 'wrong_signature' }
    ],
    [
      'a token before its time',
      bearer(await issuer.sign({ nbf: 4_000_000_000 })),
      { status: 401, reason: 'invalid_token', detail: /nbf/ }
    ],
    [
      'a token that is none for access',
      bearer(await issuer.sign({}, { typ: 'logout+jwt' })),
      { status: 401, reason: 'invalid_token', detail: /typ/ }
    ]
  ]
  for (const [what, headers, expected, query] of rows) {
    const { audit, body, log } = await audited(headers, query)
    t.match(audit, { outcome: 'refused', route: '/message', ...expected }, what)
    for (const word of ['reason', 'audience', 'issuer', other]) t.notOk(body.includes(word), `${what}: ${body}`)
    const credential = headers['authorization']?.split(' ')[1] ?? ADA
    t.notOk(
      log.includes(credential) || log.includes(credential.split('.')[1] ?? credential),
      `${what}: without the credential`
    )
  }
  t.match((await audited(bearer(await issuer.sign({ aud: other })))).audit, { detail: `wanted ${RESOURCE}` })
})

t.test('where only keys are accepted, what is not known is an unknown key', async t => {
  const { audited } = await reasons(t, false)
  t.match((await audited(bearer('pb_unknown'))).audit, { status: 401, reason: 'unknown_key' })
  t.match((await audited({ 'x-api-key': 'a b' })).audit, { status: 400, reason: 'malformed_credential' })
  t.equal((await audited(bearer(ADA))).statusCode, 200)
})
