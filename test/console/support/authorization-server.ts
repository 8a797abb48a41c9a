import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHash, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { json, startIssuer, type Issuer } from '../../support/environment/issuer.js'

type Changes = Record<string, string | undefined>

/** An authorization server that lets everybody in at once, and sends the browser back as a test wants it. */
export class AuthorizationServer {
  readonly issuer: Issuer
  readonly resource: string
  /** The parameters of each visit, and of each request for tokens. */
  readonly visits: Array<Record<string, string>> = []
  readonly grants: Array<Record<string, string>> = []
  /** What it answers to a visit in place of the usual parameters. */
  answer: Changes = {}
  /** Added to the metadata. */
  metadata: object = {}
  /** The life of a token, in seconds. */
  lifetime = 300
  /** Until then, requests with a refresh token wait. */
  gate: Promise<void> = Promise.resolve()
  readonly #challenges = new Map<string, string>()

  constructor (issuer: Issuer, resource: string) {
    this.issuer = issuer
    this.resource = resource
    issuer.serve = (request, response) => { void this.#serve(request, response) }
  }

  async #serve (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.issuer.url)
    response.setHeader('access-control-allow-origin', '*')
    if (pathname.startsWith('/.well-known/oauth-authorization-server')) {
      json(response, { ...this.issuer.metadata, ...this.#places(), ...this.metadata })
    } else if (pathname === '/jwks') json(response, this.issuer.jwks)
    else if (pathname === '/authorize') this.#letIn(Object.fromEntries(searchParams), response)
    else if (pathname === '/token') {
      await this.#grant(Object.fromEntries(new URLSearchParams(await text(request))), response)
    } else response.writeHead(404).end()
  }

  #places () {
    const { url } = this.issuer
    return {
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true
    }
  }

  #letIn (given: Record<string, string>, response: ServerResponse): void {
    this.visits.push(given)
    const code = randomUUID()
    this.#challenges.set(code, given['code_challenge'] ?? '')
    const back = new URL(given['redirect_uri'] ?? '')
    const parameters: Changes = { code, state: given['state'], iss: this.issuer.url, ...this.answer }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) back.searchParams.set(name, value)
    response.writeHead(302, { location: back.href }).end()
  }

  async #grant (given: Record<string, string>, response: ServerResponse): Promise<void> {
    this.grants.push(given)
    const { grant_type: type, code = '', code_verifier: verifier = '', refresh_token: refresh } = given
    if (type === 'refresh_token') await this.gate
    const proven = createHash('sha256').update(verifier).digest('base64url') === this.#challenges.get(code)
    if (type === 'refresh_token' ? refresh !== this.#refresh : !proven) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: 'invalid_grant' }))
      return
    }
    this.#challenges.delete(code)
    this.#refresh = randomUUID()
    const exp = Math.floor(Date.now() / 1_000) + this.lifetime
    json(response, {
      access_token: await this.issuer.sign({ aud: this.resource, exp }),
      token_type: 'Bearer',
      expires_in: this.lifetime,
      refresh_token: this.#refresh
    })
  }

  #refresh: string | undefined
}

/** For a gateway whose endpoint is at this URL. */
export async function startAuthorizationServer (t: Test, resource: string): Promise<AuthorizationServer> {
  return new AuthorizationServer(await startIssuer(t), resource)
}
