import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Owner } from '../owner.js'

type Answer = (request: IncomingMessage, response: ServerResponse, issuer: HostileIssuer) => void

/** The parameters of an authorization response, as they are about to be sent. */
export type Parameters = Record<string, string>

/**
 * An MCP server and its authorization server in one, on plain HTTP, where every part of the answers can be replaced. It
 * records what it is asked, and the codes that it is sent.
 */
export class HostileIssuer {
  url = ''
  /** Changes the metadata of the resource, and those of the authorization server. */
  resource: (metadata: Record<string, unknown>) => object = metadata => metadata
  metadata: (metadata: Record<string, unknown>) => object = metadata => metadata
  /** Changes the parameters that the browser is sent back with. */
  respond: (parameters: Parameters) => Parameters = parameters => parameters
  /** Replies in place of the usual ones, by path. */
  readonly answers = new Map<string, Answer>()
  readonly asked: string[] = []
  readonly codes: string[] = []

  serve (request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url)
    this.asked.push(url.pathname)
    const answer = this.answers.get(url.pathname)
    if (answer !== undefined) return answer(request, response, this)
    switch (url.pathname) {
      case '/mcp':
        response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${this.url}/resource"` }).end()
        return
      case '/resource':
        return json(response, this.resource({ resource: `${this.url}/mcp`, authorization_servers: [this.url] }))
      case '/.well-known/oauth-authorization-server':
        return json(response, this.metadata(this.#metadata()))
      case '/register':
        return json(response, { client_id: 'me', redirect_uris: [] }, 201)
      case '/authorize':
        return this.#authorize(url.searchParams, response)
      case '/token':
        void this.#token(request, response)
        return
      default:
        response.writeHead(404).end()
    }
  }

  #metadata (): Record<string, unknown> {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code']
    }
  }

  #authorize (parameters: URLSearchParams, response: ServerResponse): void {
    const back = new URL(parameters.get('redirect_uri') ?? '')
    const usual = { code: 'the-code', state: parameters.get('state') ?? '' }
    for (const [name, value] of Object.entries(this.respond(usual))) back.searchParams.set(name, value)
    response.writeHead(302, { location: back.href }).end()
  }

  async #token (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams(Buffer.concat(await request.toArray() as Buffer[]).toString())
    this.codes.push(body.get('code') ?? '')
    json(response, { access_token: 'secret-access', token_type: 'Bearer', expires_in: 3_600 })
  }
}

export async function startHostileIssuer (t: Owner): Promise<HostileIssuer> {
  const issuer = new HostileIssuer()
  const server = createServer((request, response) => issuer.serve(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => { server.closeAllConnections(); server.close(); await once(server, 'close') })
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}

function json (response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
