import Fastify from 'fastify'
import fp from 'fastify-plugin'
import application from './app.js'

/** Makes the server, which does not listen yet. */
export function createServer (logger = false) {
  return Fastify({ logger, ajv: { customOptions: { coerceTypes: 'array', allErrors: true } } })
}

/** The application as a plugin of the server. */
export default fp(application, { name: 'tasks' })
