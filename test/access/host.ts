import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { patchbay, type Identity, type Options } from '../../app.js'
import { addWitnesses, watched, type Server } from '../support/server.js'
import type { Head } from '../support/http-client.js'
import fixture from '../support/gateway.js'

const PRINCIPAL = 'x-test-principal'
const SCOPES = 'x-test-scopes'

/**
 * An application that knows its callers by a header, which only a test may believe, lets strangers do everything, and
 * has Patchbay in it.
 */
export async function hosted (t: Test, options: Partial<Options> = {}): Promise<Server> {
  const app = Fastify()
  const seen = { counted: 0, hanging: 0, aborted: 0 }
  const plugins = [
    fixture,
    async (fastify: FastifyInstance) => {
      addWitnesses(fastify, seen)
    },
    ...(options.plugins ?? [])
  ]
  t.teardown(async () => await app.close())
  app.decorateRequest('identity')
  app.addHook('onRequest', async request => {
    const { [PRINCIPAL]: principal, [SCOPES]: scopes } = request.headers
    if (principal !== undefined) {
      request.identity = { principal: String(principal), scopes: scopes === undefined ? 'all' : setOf(String(scopes)) }
    }
  })
  await app.register(patchbay, {
    grace: 1_000,
    tools: true,
    allowAnonymous: true,
    ...options,
    plugins,
    limits: { maxEventLoopDelay: 60_000, ...options.limits }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return watched(t, app, seen)
}

/** The same server for one of its callers, who was granted everything or these scopes. */
export function as (
  server: Server,
  principal: string,
  scopes?: readonly string[]
): Server & { head: Head, identity: Identity } {
  const head: Head = [
    [PRINCIPAL, principal],
    ...(scopes === undefined ? [] : [[SCOPES, scopes.join(' ')] as [string, string]])
  ]
  return { ...server, head, identity: { principal, scopes: scopes === undefined ? 'all' : new Set(scopes) } }
}

const setOf = (text: string): Set<string> => new Set(text.split(' ').filter(scope => scope !== ''))
