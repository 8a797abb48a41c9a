import type { FastifyReply, FastifyRequest } from 'fastify'
import { underOtherName } from '../../lib/origins.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import type { Route } from '../paths.js'
import { encodingFor, readBytes, type ConsoleFile } from './files.js'

/** Sent with each reply. */
type Headers = Readonly<Record<string, string>>

export const REVALIDATE = 'no-cache'
const FOREVER = 'public, max-age=31536000, immutable'

/** Serves a file whose name has the hash of its bytes. */
export function serveFile (file: ConsoleFile, headers: Headers): Route['handler'] {
  return async (request, reply) => await sendFile(file, headers, FOREVER, request, reply)
}

/**
 * The page names its files relative to itself, so it needs the slash; a relative redirect is right behind a proxy that
 * serves another path, too.
 */
export function servePage (file: ConsoleFile, headers: Headers): Route['handler'] {
  return async (request, reply) => {
    const [path = ''] = request.url.split('?', 1)
    if (path.endsWith('/')) return await sendFile(file, withSandbox(headers, request), REVALIDATE, request, reply)
    return await reply
      .headers(headers)
      .header('cache-control', REVALIDATE)
      .code(308)
      .header('location', `console/${request.url.slice(path.length)}`)
      .send()
  }
}

/** The origin of this gateway under the other name of this machine, if the request came under one of the two. */
export const otherOrigin = ({ protocol, raw: { headers } }: FastifyRequest): string | undefined =>
  underOtherName(`${protocol}://${headers.host ?? ''}`)?.origin

/** The page may have frames of its sandbox, where there is another origin for it. */
function withSandbox (headers: Headers, request: FastifyRequest): Headers {
  const origin = otherOrigin(request)
  if (origin === undefined) return headers
  return { ...headers, 'content-security-policy': `${headers['content-security-policy'] ?? ''}; frame-src ${origin}` }
}

export function serveJson (value: object, headers: Headers): Route['handler'] {
  return async (_request, reply) => await reply.headers(headers).header('cache-control', REVALIDATE).send(value)
}

export async function sendFile (
  file: ConsoleFile,
  headers: Headers,
  caching: string,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const encoding = encodingFor(request.headers['accept-encoding'])
  const tag = `"${file.hash}${encoding === undefined ? '' : `-${encoding}`}"`
  const ofFile = {
    'cache-control': caching,
    etag: tag,
    vary: request.headers.origin === undefined ? 'Accept-Encoding' : 'Origin, Accept-Encoding'
  }
  reply.headers(headers)
  if (matchesTag(request.headers['if-none-match'], tag)) return await reply.headers(ofFile).code(304).send()
  const bytes = await readBytes(file, encoding).catch((error: Error) => {
    reply.header('cache-control', 'no-store')
    throw gone(request, error)
  })
  reply.headers(ofFile)
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  return await reply.type(file.type).send(bytes)
}

function gone (request: FastifyRequest, error: Error): Error {
  request.log.warn(
    { reqId: request.id, err: error },
    'a file of the console cannot be read; if the gateway was built anew, restart it'
  )
  return httpErrors.notFound(request.method, '/console')
}

/** True when `If-None-Match` names this entity tag. Tags that a proxy made weak count. */
export function matchesTag (condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').map(each => each.trim().replace(/^W\//, '')).some(each => each === tag || each === '*')
}
