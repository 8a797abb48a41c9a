import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Bytes } from '../protocol/bytes.js'
import { refusal } from '../protocol/refusal.js'

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
    if (announced > maxMessage) done(tooLarge(maxMessage))
    else read(payload, new Bytes(announced), maxMessage, done)
  })

  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.method !== 'POST' || request.routeOptions.config.bodyless === true) done()
    else if (!isJson(request.raw.headers['content-type'])) done(refusal(415, 'Content-Type must be application/json in UTF-8'))
    else if (request.headers['content-encoding'] !== undefined) done(refusal(415, 'Content-Encoding is not supported'))
    else done()
  })
}, { name: 'json-body' })

type Done = (error: Error | null, body?: Buffer) => void

const isJson = (type = ''): boolean => type === 'application/json' || JSON_TYPE.test(type)

/** Exactly one of these comes first: the end, an error, or the end of the connection. */
function read (payload: IncomingMessage, body: Bytes, max: number, done: Done): void {
  let over = false
  const finish = (error: Error | null, whole?: Buffer) => {
    over = true
    done(error, whole)
  }
  const cut = () => { if (!over) finish(refusal(400, 'the body was cut short')) }
  payload.on('data', (chunk: Buffer) => {
    body.add(chunk)
    if (body.size <= max || over) return
    payload.removeAllListeners('data').resume()
    finish(tooLarge(max))
  })
  payload.on('end', () => { if (!over) finish(null, body.take()) })
  payload.on('error', cut)
  payload.on('close', cut)
}

const tooLarge = (max: number) => refusal(413, `the message is too large: at most ${max} bytes`)
