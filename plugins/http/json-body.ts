import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Chunks } from '../../lib/chunks.js'
import type { ByteBudget } from '../../lib/byte-budget.js'
import { httpErrors } from '../../protocol/http/http-errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True where a POST needs no body. */
    bodyless?: boolean
  }
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i

/**
 * Bodies are JSON in UTF-8 and reach the transports as bytes, to be read by the one parser of all transports. Any other type is
 * refused: the simple ones are what a web page can send without being asked.
 */
export default fp(async (fastify, { maxMessage }: { maxMessage: number }) => {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > maxMessage) return done(httpErrors.messageTooLarge(maxMessage))
    if (request.headers.expect !== undefined) fastify.mcp.askForBody?.(request.raw)
    read(payload, new Chunks(announced), { maxMessage, held: fastify.mcp.dispatcher.byteBudget }, done)
  })

  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.method !== 'POST' || request.routeOptions.config.bodyless === true) done()
    else if (!isJson(request.raw.headers['content-type'])) done(httpErrors.contentType())
    else if (request.headers['content-encoding'] !== undefined) done(httpErrors.contentEncoding())
    else done()
  })
}, { name: 'patchbay-json-body', dependencies: ['patchbay-mcp'] })

interface BodyLimits { maxMessage: number, held: ByteBudget }

/** A chunk costs Node.js about as much as 200 bytes do: this many may be of any size, and with more they have to be this large on the average, in bytes. */
const FREE_CHUNKS = 100_000
const SMALLEST_CHUNK = 16

type Done = (error: Error | null, body?: Buffer) => void

const isJson = (type = ''): boolean => type === 'application/json' || JSON_TYPE.test(type)

/** Exactly one of these comes first: the end, an error, or the end of the connection. */
function read (payload: IncomingMessage, body: Chunks, limits: BodyLimits, done: Done): void {
  const { held } = limits
  let over = false
  let chunks = 0
  let counted = 0
  const finish = (error: Error | null, whole?: Buffer) => {
    over = true
    held.remove(counted)
    done(error, whole)
  }
  const cut = () => { if (!over) finish(httpErrors.bodyCutShort()) }
  payload.on('data', (chunk: Buffer) => {
    if (over) return
    body.add(chunk)
    counted += chunk.length
    held.add(chunk.length)
    // What comes in one piece may always come: a ping, or a cancellation.
    const wrong = ++chunks === 1 && body.size <= limits.maxMessage ? undefined : excessive(body, chunks, limits)
    if (wrong === undefined) return
    payload.removeAllListeners('data').resume()
    body.clear()
    finish(wrong)
  })
  payload.on('end', () => { if (!over) finish(null, body.take()) })
  payload.on('error', cut)
  payload.on('close', cut)
}

/** Why a body is not read any further; undefined while it may be. */
function excessive ({ size }: Chunks, chunks: number, { maxMessage, held }: BodyLimits): Error | undefined {
  if (size > maxMessage) return httpErrors.messageTooLarge(maxMessage)
  if (held.isExceeded) return httpErrors.tooMuchInFlight(held.max)
  return chunks > FREE_CHUNKS && size < chunks * SMALLEST_CHUNK ? httpErrors.chunksTooSmall(SMALLEST_CHUNK) : undefined
}
