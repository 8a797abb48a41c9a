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
  fastify.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (Number(request.headers['content-length'] ?? 0) > maxMessage) throw tooLarge(maxMessage)
    return await read(payload, maxMessage)
  })

  fastify.addHook('preParsing', async request => {
    if (request.method !== 'POST' || request.routeOptions.config.bodyless === true) return
    if (!isJson(request)) throw refusal(415, 'Content-Type must be application/json in UTF-8')
    if (request.headers['content-encoding'] !== undefined) throw refusal(415, 'Content-Encoding is not supported')
  })
}, { name: 'json-body' })

function isJson ({ raw }: FastifyRequest): boolean {
  return JSON_TYPE.test(raw.headers['content-type'] ?? '')
}

async function read (payload: IncomingMessage, max: number): Promise<Buffer> {
  const body = new Bytes()
  return await new Promise((resolve, reject) => {
    payload.on('data', (chunk: Buffer) => {
      body.add(chunk)
      if (body.size <= max) return
      payload.removeAllListeners('data').resume()
      reject(tooLarge(max))
    })
    payload.once('end', () => resolve(body.take()))
    for (const broken of ['error', 'close']) payload.once(broken, () => reject(refusal(400, 'the body was cut short')))
  })
}

const tooLarge = (max: number) => refusal(413, `the message is too large: at most ${max} bytes`)
