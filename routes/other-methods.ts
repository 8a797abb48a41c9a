import type { FastifyInstance, HTTPMethods } from 'fastify'
import { httpErrors } from '../protocol/http/http-errors.js'
import { addresses } from './paths.js'

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers every method that a URL does not serve with 405, with or without a slash at its end, before anything is read. OPTIONS of a host application are the host's. */
export function refuseOtherMethods (app: FastifyInstance, address: string, served: HTTPMethods[]): void {
  for (const url of addresses(app, address)) refuseAt(app, url, served)
}

function refuseAt (app: FastifyInstance, url: string, served: HTTPMethods[]): void {
  app.route({
    method: METHODS.filter(method => !served.includes(method) && (method !== 'OPTIONS' || app.mcp.standalone)),
    url,
    exposeHeadRoute: false,
    onRequest: async (_request, reply) => {
      reply.header('allow', served.join(', '))
      throw httpErrors.methodNotAllowed(served)
    },
    handler: async () => {}
  })
}
