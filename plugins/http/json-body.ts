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
 * Reads JSON bodies as bytes, which the transports decode. Any other content type is refused: a web page of another
 * origin can send some of them without a CORS preflight.
 */
export default fp(async (fastify, { maxMessage }: { maxMessage: number }) => {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > maxMessage) return done(httpErrors.messageTooLarge(maxMessage))
    if (request.headers.expect !== undefined) fastify.mcp.askForBody?.(request.raw)
    readBody(payload, new Chunks(announced), { maxMessage, budget: fastify.mcp.dispatcher.byteBudget }, done)
  })

  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.method !== 'POST' || request.routeOptions.config.bodyless === true) done()
    else if (!isJson(request.raw.headers['content-type'])) done(httpErrors.contentType())
    else if (request.headers['content-encoding'] !== undefined) done(httpErrors.contentEncoding())
    else done()
  })
}, { name: 'patchbay-json-body', dependencies: ['patchbay-mcp'] })

interface BodyLimits { maxMessage: number, budget: ByteBudget }

/**
 * A chunk costs Node.js about as much as 200 bytes, so a body of more than this many has to have chunks of this many
 * bytes on average.
 */
const MANY_CHUNKS = 100_000
const MIN_AVERAGE_CHUNK = 16

type Done = (error: Error | null, body?: Buffer) => void

const isJson = (type = ''): boolean => type === 'application/json' || JSON_TYPE.test(type)

// `done` is called once, by the first of: the end of the body, an error, the end of the connection.
function readBody (payload: IncomingMessage, body: Chunks, limits: BodyLimits, done: Done): void {
  const { budget } = limits
  let finished = false
  let chunks = 0
  let counted = 0
  const finish = (error: Error | null, whole?: Buffer) => {
    finished = true
    budget.remove(counted)
    done(error, whole)
  }
  const onCut = () => { if (!finished) finish(httpErrors.bodyCutShort()) }
  payload.on('data', (chunk: Buffer) => {
    if (finished) return
    body.add(chunk)
    counted += chunk.length
    budget.add(chunk.length)
    // A body of one chunk is read although the budget is exceeded: it may be a ping or a cancellation.
    const error = ++chunks === 1 && body.size <= limits.maxMessage ? undefined : checkSize(body, chunks, limits)
    if (error === undefined) return
    payload.removeAllListeners('data').resume()
    body.clear()
    finish(error)
  })
  payload.on('end', () => { if (!finished) finish(null, body.take()) })
  payload.on('error', onCut)
  payload.on('close', onCut)
}

/** The error for a body that is not read any further; undefined while it may be. */
function checkSize ({ size }: Chunks, chunks: number, { maxMessage, budget }: BodyLimits): Error | undefined {
  if (size > maxMessage) return httpErrors.messageTooLarge(maxMessage)
  if (budget.isExceeded) return httpErrors.tooMuchInFlight(budget.max)
  return chunks > MANY_CHUNKS && size < chunks * MIN_AVERAGE_CHUNK
    ? httpErrors.chunksTooSmall(MIN_AVERAGE_CHUNK)
    : undefined
}
