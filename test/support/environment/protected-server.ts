import { once } from 'node:events'
import { createServer, request as requestHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Owner } from '../owner.js'

/** Why a request is refused: its status, and the parameters of the challenge. */
export interface Refused { readonly status: 401 | 403, readonly challenge: string }

/** The decision about a request by its token; undefined to let it through. */
export type Check = (token: string | undefined, body: string, resource: string) => Promise<Refused | undefined>

/** An MCP server that wants tokens, in front of one that does not. */
export interface ProtectedServer {
  /** The URL of the server, which is also the resource of its tokens. */
  readonly url: string
  /** The tokens that came, and how many requests were refused. */
  readonly tokens: string[]
  refused: number
  /** Replies in place of the usual ones, by path. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
}

/**
 * Passes requests with a token that `check` accepts on to the server at `target`. Publishes metadata that names the
 * issuer, which may be changed.
 */
export async function protect (
  t: Owner,
  target: string,
  check: Check,
  metadata: (url: string) => object
): Promise<ProtectedServer> {
  const { pathname } = new URL(target)
  const server = createServer((request, response) => { void serve(request, response) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => { server.closeAllConnections(); server.close(); await once(server, 'close') })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const place: ProtectedServer = { url: origin + pathname, tokens: [], refused: 0, answers: new Map() }

  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void upgrade(request, socket, head)
  })

  async function upgrade (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const token = tokenIn(request)
    if (token !== undefined) place.tokens.push(token)
    const refusal = await check(token, '', place.url)
    if (refusal !== undefined) {
      place.refused++
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\nwww-authenticate: Bearer ${refusal.challenge}\r\n\r\n`)
      return
    }
    const { hostname, port, pathname } = new URL(target)
    const onward = connect(Number(port), hostname)
    const { authorization, ...headers } = request.headers
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
    onward.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    onward.write(head)
    onward.pipe(socket).on('error', () => onward.destroy())
    socket.pipe(onward).on('error', () => socket.destroy())
  }

  async function serve (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/' } = request
    const answer = place.answers.get(url)
    if (answer !== undefined) return answer(request, response)
    if (url.startsWith('/.well-known/oauth-protected-resource')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata(place.url)))
      return
    }
    if (url.startsWith('/.well-known/')) {
      response.writeHead(404).end()
      return
    }
    const body = Buffer.concat(await request.toArray() as Buffer[]).toString()
    const token = tokenIn(request)
    if (token !== undefined) place.tokens.push(token)
    const refusal = await check(token, body, place.url)
    if (refusal === undefined) return pass(request, response, body)
    place.refused++
    const { status, challenge } = refusal
    response.writeHead(status, { 'www-authenticate': `Bearer ${challenge}` }).end()
  }

  function pass (request: IncomingMessage, response: ServerResponse, body: string): void {
    const { authorization, host, ...headers } = request.headers
    const onward = requestHttp(new URL(request.url ?? '/', target.replace(/^ws/, 'http')), { method: request.method, headers }, reply => {
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    onward.end(body)
  }

  return place
}

const tokenIn = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
