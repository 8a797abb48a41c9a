import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload
} from 'jose'
import type { Test } from 'tap'

export const RESOURCE = 'https://gateway.test/mcp'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface Signer { kid: string, alg: string, privateKey: CryptoKey, jwk: JWK }

/**
 * An authorization server of the test's own, on a port of the loopback interface: it publishes keys, signs anything,
 * and counts who asks.
 */
export class Issuer {
  /** Replies in place of the usual ones, by path. */
  readonly answers = new Map<string, Answer>()
  readonly asked: string[] = []
  readonly signers: Signer[] = []
  url = ''

  count (path: string): number {
    return this.asked.filter(url => url === path).length
  }

  get options () {
    return { issuer: this.url, resource: RESOURCE }
  }

  get metadata () {
    return { issuer: this.url, jwks_uri: `${new URL(this.url).origin}/jwks` }
  }

  get jwks () {
    return { keys: this.signers.map(({ jwk }) => jwk) }
  }

  async addKey (alg = 'ES256', kid = `key-${this.signers.length + 1}`): Promise<Signer> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const signer = { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
    this.signers.push(signer)
    return signer
  }

  /** A valid token, but for the given claims. */
  async sign (
    claims: JWTPayload = {},
    header: Partial<JWTHeaderParameters> = {},
    signer = this.signers[0] as Signer
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1_000)
    const payload = { iss: this.url, aud: RESOURCE, sub: 'alice', scope: 'mcp', iat: now, exp: now + 300, ...claims }
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: signer.alg, kid: signer.kid, typ: 'at+jwt', ...header })
      .sign(signer.privateKey)
  }

  serve ({ url = '' }: IncomingMessage, response: ServerResponse): void {
    if (url.startsWith('/.well-known/oauth-authorization-server')) json(response, this.metadata)
    else if (url === '/jwks') json(response, this.jwks)
    else response.writeHead(404).end()
  }
}

export async function startIssuer (t: Test, path = ''): Promise<Issuer> {
  const issuer = new Issuer()
  await issuer.addKey()
  const server = createServer((request, response) => {
    issuer.asked.push(request.url ?? '')
    const answer = issuer.answers.get(request.url ?? '')
    if (answer === undefined) issuer.serve(request, response)
    else answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => { server.closeAllConnections(); server.close(); await once(server, 'close') })
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  return issuer
}

export function json (response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
