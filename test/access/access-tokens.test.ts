import { createHmac } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { base64url, exportSPKI, importJWK, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose'
import t from 'tap'
import { gateway } from '../support/gateway.js'
import { RESOURCE, startIssuer, type Issuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, bearer, challengeOf, ping } from '../support/keys.js'
import { settable } from '../support/clocks.js'

const post = async (app: FastifyInstance, token: string, payload: object = ping) =>
  await app.inject({ method: 'POST', url: '/message', headers: bearer(token), payload })
const seconds = () => Math.floor(Date.now() / 1_000)
const part = (value: object) => base64url.encode(JSON.stringify(value))

/** The classic: the public key taken for a secret. */
async function confused (issuer: Issuer): Promise<string> {
  const secret = await exportSPKI(await importJWK(issuer.signers[0]?.jwk ?? {}, 'ES256') as CryptoKey)
  const text = `${part({ alg: 'HS256', kid: 'key-1', typ: 'JWT' })}.${part(claims(issuer))}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const claims = (issuer: Issuer): JWTPayload => ({
  iss: issuer.url,
  aud: RESOURCE,
  sub: 'alice',
  scope: 'admin',
  exp: seconds() + 300
})

function replaced (token: string, index: number, value: object): string {
  return token.split('.').map((old, at) => at === index ? part(value) : old).join('.')
}

function flipped (token: string): string {
  const at = token.length - 10
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}

const HOSTILE: Record<string, (issuer: Issuer) => Promise<string> | string> = {
  'alg none': issuer => new UnsecuredJWT(claims(issuer)).encode(),
  'alg None, with the signature of another token': async issuer => replaced(await issuer.sign(), 0, { alg: 'None' }),
  'alg HS256 with the public key as its secret': confused,
  'an alg that is not allowed, correctly signed': async issuer =>
    await issuer.sign({}, {}, await issuer.addKey('ES384')),
  'claims changed after signing': async issuer => replaced(await issuer.sign(), 1, claims(issuer)),
  'a signature changed in one place': async issuer => flipped(await issuer.sign()),
  'no signature': async issuer => (await issuer.sign()).replace(/\.[^.]*$/, '.'),
  'another issuer': async issuer => await issuer.sign({ iss: 'https://evil.test' }),
  'an issuer that only looks the same': async issuer => await issuer.sign({ iss: `${issuer.url}/` }),
  'no issuer': async issuer => await issuer.sign({ iss: undefined as unknown as string }),
  'another audience': async issuer => await issuer.sign({ aud: 'https://other.test/mcp' }),
  'the audience of our host, but not of us': async issuer => await issuer.sign({ aud: 'https://gateway.test' }),
  'an audience that begins like ours': async issuer => await issuer.sign({ aud: `${RESOURCE}/evil` }),
  'a list of other audiences': async issuer => await issuer.sign({ aud: ['https://a.test', 'https://b.test'] }),
  'no audience': async issuer => await issuer.sign({ aud: undefined as unknown as string }),
  'an end that has passed': async issuer => await issuer.sign({ exp: seconds() - 1 }),
  'no end': async issuer => await issuer.sign({ exp: undefined as unknown as number }),
  'an end that is no number': async issuer => await issuer.sign({ exp: '9999999999' as unknown as number }),
  'a beginning that is far away': async issuer => await issuer.sign({ nbf: seconds() + 120 }),
  'an unknown key': async issuer => await issuer.sign({}, { kid: 'nobody' }),
  'the name of our key, the signature of another': async issuer => {
    const other = await issuer.addKey()
    issuer.signers.pop()
    return await issuer.sign({}, { kid: 'key-1' }, other)
  },
  'a key of its own in the header': async issuer =>
    await issuer.sign({}, { kid: 'nobody', jwk: issuer.signers[0]?.jwk ?? {} }),
  'the type of another kind of token': async issuer => await issuer.sign({}, { typ: 'id+jwt' }),
  'the type of a logout token': async issuer => await issuer.sign({}, { typ: 'logout+jwt' }),
  'an extension that must be understood': async issuer =>
    await issuer.sign().then(token => replaced(token, 0, { alg: 'ES256', kid: 'key-1', crit: ['x'], x: 1 })),
  'no subject in it': async issuer => await issuer.sign({ sub: undefined as unknown as string }),
  'an empty name': async issuer => await issuer.sign({ sub: '' }),
  'a name with a NUL': async issuer => await issuer.sign({ sub: 'al\0ice' }),
  'half a character for a name': async issuer => await issuer.sign({ sub: 'a\ud800' }),
  'a name that is no text': async issuer => await issuer.sign({ sub: 1 as unknown as string }),
  'an encrypted form': () => `${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`,
  'no JSON inside': async issuer => (await issuer.sign()).replace(/\.[^.]*\./, `.${base64url.encode('{')}.`),
  'no token at all': () => 'a.b.c'
}

t.test('a token that is not good in any one way is an invalid token', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: issuer.options })
  for (const [what, make] of Object.entries(HOSTILE)) {
    const response = await post(app, await make(issuer))
    t.equal(response.statusCode, 401, what)
    const { error_description: description, ...rest } = challengeOf(response.headers['www-authenticate'])
    t.strictSame(rest, {
      error: 'invalid_token',
      scope: 'mcp',
      resource_metadata: 'https://gateway.test/.well-known/oauth-protected-resource/mcp'
    })
    t.equal(
      description,
      what === 'an end that has passed' ? 'the access token has expired' : 'the access token is not valid here',
      what
    )
  }
  t.equal((await post(app, await issuer.sign())).statusCode, 200, 'while one that is good is good')
  t.equal(issuer.count('/jwks'), 1, 'and all of this has fetched keys once')
})

const GOOD: Record<string, (issuer: Issuer) => Promise<string>> = {
  'one audience of many': async issuer => await issuer.sign({ aud: ['https://a.test', RESOURCE] }),
  'type JWT': async issuer => await issuer.sign({}, { typ: 'JWT' }),
  'the long form of the type': async issuer => await issuer.sign({}, { typ: 'application/AT+JWT' }),
  'no type': async issuer => await issuer.sign({}, { typ: undefined as unknown as string }),
  'no name of a key, when there is but one': async issuer =>
    await issuer.sign({}, { kid: undefined as unknown as string }),
  'a beginning that is a little ahead of our clock': async issuer => await issuer.sign({ nbf: seconds() + 10 }),
  'a client that speaks for itself': async issuer =>
    await issuer.sign({ sub: undefined as unknown as string, client_id: 'robot' }),
  'a client by its other name': async issuer =>
    await issuer.sign({ sub: undefined as unknown as string, azp: 'robot' }),
  'a far end': async issuer => await issuer.sign({ exp: seconds() + 10 ** 9 })
}

t.test('a token that is good in any of these ways is good', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: issuer.options })
  for (const [what, make] of Object.entries(GOOD)) t.equal((await post(app, await make(issuer))).statusCode, 200, what)
})

for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
  t.test(`${alg} is verified`, async t => {
    const issuer = await startIssuer(t)
    issuer.signers.length = 0
    await issuer.addKey(alg)
    const app = await gateway(t, { oauth: issuer.options })
    t.equal((await post(app, await issuer.sign())).statusCode, 200)
  })
}

t.test('other algorithms are for those who list them', async t => {
  const issuer = await startIssuer(t)
  const signer = await issuer.addKey('ES512')
  const app = await gateway(t, { oauth: { ...issuer.options, algorithms: ['ES512'] } })
  t.equal((await post(app, await issuer.sign({}, {}, signer))).statusCode, 200)
  t.equal((await post(app, await issuer.sign())).statusCode, 401, 'and then the usual ones are not accepted')
  for (const algorithms of [['none'], ['HS256'], []]) {
    await t.rejects(gateway(t, { oauth: { ...issuer.options, algorithms } }), { message: /option oauth/ })
  }
})

t.test('a caller is its issuer and subject, and its rights are its scopes', async t => {
  const issuer = await startIssuer(t)
  const { mcp: { identities } } = await gateway(t, { oauth: issuer.options })
  const exp = seconds() + 100
  const identity = async (claims: JWTPayload) => await identities.authenticate(await issuer.sign({ exp, ...claims }))
  t.strictSame(await identity({ scope: 'mcp notes:read  exec' }), {
    principal: `${issuer.url}#alice`,
    scopes: new Set(['mcp', 'notes:read', 'exec']),
    expires: exp * 1_000,
    claims: {}
  })
  t.strictSame((await identity({ scope: undefined, scp: ['mcp', 1] })).scopes, new Set(['mcp']))
  t.strictSame((await identity({ scope: undefined, scp: 'mcp search' })).scopes, new Set(['mcp', 'search']))
  t.strictSame((await identity({ scope: undefined })).scopes, new Set())
  t.equal((await identity({ sub: 'client=robot' })).principal, `${issuer.url}#client=robot`)
  t.equal(
    (await identity({ sub: undefined as unknown as string, client_id: 'robot' })).principal,
    `${issuer.url}?client=robot`,
    'a client is nobody with the same name'
  )
  t.equal(
    (await identity({ sub: null as unknown as string, client_id: 'alice' })).principal,
    `${issuer.url}?client=alice`,
    'also when the subject is there and is nothing'
  )
})

t.test('a token is verified once, and known for as long as it is good', async t => {
  const clock = settable(t)
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: issuer.options })
  await app.mcp.identities.authenticate(await issuer.sign())
  const expires = Date.now() + 60_000
  const token = await issuer.sign({ exp: expires / 1_000 })
  const first = await Promise.all(Array.from({ length: 20 }, async () => await app.mcp.identities.authenticate(token)))
  t.ok(first.every(identity => identity === first[0]), 'the same identity for all who came at once')
  t.equal(await app.mcp.identities.authenticate(token), first[0], 'and for who comes later')
  clock.later = 60_000
  await t.rejects(app.mcp.identities.authenticate(token), { message: 'the access token has expired' })
})

t.test('keys and tokens may be used side by side', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { apiKeys, oauth: issuer.options })
  t.equal((await post(app, ADA)).statusCode, 200)
  t.equal((await post(app, await issuer.sign())).statusCode, 200)
  t.equal((await post(app, `${ADA}x`)).statusCode, 401)
})

t.test('what cannot be the address of an issuer or of a server is refused at start', async t => {
  const oauth = { issuer: 'https://issuer.test', resource: RESOURCE }
  const wrong: Array<[object, RegExp]> = [
    [{ issuer: 'http://issuer.test' }, /option oauth\.issuer must be an https URL.*"http:\/\/issuer\.test"/],
    [{ issuer: 'https://issuer.test?x=1' }, /option oauth\.issuer must be a URL without/],
    [{ issuer: 'https://me:secret@issuer.test' }, /option oauth\.issuer must be an https URL/],
    [{ jwks: 'http://10.0.0.1/jwks' }, /option oauth\.jwks must be an https URL/],
    [{ jwks: 'file:///etc/passwd' }, /option oauth\.jwks/],
    [{ resource: 'http://gateway.test/mcp' }, /option oauth\.resource must be an https URL/],
    [{ resource: 'https://gateway.test/mcp#x' }, /option oauth\.resource/],
    [{ resource: 'https://gateway.test/' }, /option oauth\.resource/],
    [{ audience: 'x' }, /option .*audience/]
  ]
  for (const [more, expected] of wrong) {
    await t.rejects(gateway(t, { oauth: { ...oauth, ...more } }), { message: expected }, JSON.stringify(more))
  }
})
