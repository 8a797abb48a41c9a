import { join } from 'node:path'
import autoload from '@fastify/autoload'

/** A task list for teams: what it needs of others, what is its own, and its routes, each in a folder. */
export default async function application (app, options) {
  const load = (folder, more = {}) => app.register(autoload, { dir: join(import.meta.dirname, folder), ...more })
  await load('plugins/external', { options })
  await load('plugins/app', { options })

  app.setErrorHandler((error, request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) request.log.error(error)
    const { message, code, validation } = error
    reply.code(status)
    return {
      problem: status >= 500 ? 'Something went wrong' : message,
      code,
      ...(validation && { fields: validation.map(({ instancePath, message }) => `${instancePath} ${message}`.trim()) })
    }
  })

  app.setNotFoundHandler({ preHandler: app.rateLimit({ max: 20 }) }, (request, reply) => {
    reply.code(404)
    return { problem: `There is nothing at ${request.url}` }
  })

  await load('routes', { autoHooks: true, cascadeHooks: true, options })
}
