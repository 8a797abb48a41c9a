import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i

/**
 * Bodies are JSON in UTF-8 and reach the transports as bytes, to be read by the one parser of all transports. Any other type is
 * refused: the simple ones are what a web page can send without being asked.
 */
export default fp(async (fastify, { maxMessage }: { maxMessage: number }) => {
  fastify.addHook('onRoute', route => { route.bodyLimit = maxMessage })
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  fastify.addHook('preParsing', async request => {
    if (request.method !== 'POST') return
    if (!isJson(request)) throw refuse('Content-Type must be application/json in UTF-8')
    if (request.headers['content-encoding'] !== undefined) throw refuse('Content-Encoding is not supported')
  })
}, { name: 'json-body' })

function isJson ({ raw }: FastifyRequest): boolean {
  return JSON_TYPE.test(raw.headers['content-type'] ?? '')
}

const refuse = (message: string) => Object.assign(new Error(message), { statusCode: 415 })
