import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { challenge, type Challenger } from '../../protocol/http/challenge.js'
import { isHttpError } from '../../protocol/http/http-error.js'
import type { Challenge } from '../../protocol/http/http-errors.js'
import { audienceOf } from '../../protocol/http/protected-resource.js'
import { rescheduleExpiry } from '../../protocol/peer/expiry.js'
import { ANONYMOUS_ALL_SCOPES, UNAUTHENTICATED, type Identity } from '../../protocol/wire/identity.js'
import type { KeyChanges, ListedKey } from '../../system/credentials/api-key.js'
import { openAuthority } from '../../system/credentials/authority.js'
import { CredentialRefused } from '../../system/credentials/credential-error.js'
import { Tickets } from '../../system/credentials/tickets.js'
import { WrongCredentials } from '../../system/credentials/wrong-credentials.js'
import { networkOf } from '../../system/rate/network.js'
import { Authenticator, type Attempt } from './auth/authenticator.js'
import { HostIdentities } from './auth/host-identities.js'

declare module '../core/mcp.js' {
  interface Mcp {
    identities: {
      /** False where every caller is anonymous and has every right. */
      readonly required: boolean
      /** The identity that an API key or access token proves. Rejects with a sentence that says why there is none. */
      authenticate: (credential: string) => Promise<Identity>
      /**
       * Accepts these keys instead of the present ones. Connections of a removed key end as if it had expired; a key whose scopes changed has
       * the new ones at once, also on open connections. Throws a sentence, and changes nothing, when an entry is not valid.
       */
      replaceKeys: (apiKeys: ListedKey[]) => KeyChanges
      /** A ticket for one request that cannot carry a header; undefined when the caller has too many. */
      issueTicket: (identity: Identity) => { ticket: string, expiresIn: number } | undefined
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The identity of the caller. A host application may set it in an earlier hook. Once the application has decorated requests with it, or has
     * set it on one, a request without it has no rights.
     */
    identity: Identity
  }
  interface FastifyContextConfig {
    /** True for a route that also serves requests without a credential; these have no rights. */
    public?: boolean
    /** True for a route where a ticket counts as a credential: browsers cannot send headers there. */
    tickets?: boolean
  }
}

export interface AuthOptions {
  apiKeys: ListedKey[]
  oauth?: { issuer: string, resource: string, jwks?: string, algorithms?: string[] } | undefined
  ticketLifetime: number
  /** True where a request without an identity of the application has every right. */
  allowAnonymous: boolean
  /** The most wrong credentials from one address in a minute; more are answered with 429. */
  maxWrongCredentials: number
  challenger: Challenger
  /** The scopes that a challenge names: those that a client asks its authorization server for first. */
  scopes: readonly string[]
}

const UNREACHABLE = 'access tokens cannot be checked, because the keys of their issuer cannot be fetched'
const OPEN = 'callers are not identified: every client that reaches this application has every right in Patchbay. Set option apiKeys or oauth, ' +
  "or call app.decorateRequest('identity') before you register Patchbay and set request.identity in a hook, or set option allowAnonymous"
const UNDECORATED = 'requests that came before the application set request.identity for the first time had every right: ' +
  "call app.decorateRequest('identity') before you register Patchbay"

/** Sets `request.identity`, on every route and on the WebSocket upgrade, after the Host and Origin checks and before the body is read. */
export default fp(async (fastify, options: AuthOptions) => {
  const { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, challenger, scopes } = options
  const authority = await openAuthority({
    apiKeys,
    oauth: oauth && { ...oauth, audience: audienceOf(oauth.resource) },
    onTrouble: error => {
      if (error !== undefined) fastify.log.warn({ err: error }, UNREACHABLE)
      fastify.mcp.health.report('oauth', error === undefined ? undefined : UNREACHABLE)
    }
  })
  const tickets = new Tickets<Identity>(ticketLifetime)
  const toChallenge: Challenge = (error, description) =>
    challenge(challenger, { ...(error === undefined ? {} : { error }), ...(description === undefined ? {} : { description }), scopes })
  const authenticator = new Authenticator(authority, tickets, new WrongCredentials(maxWrongCredentials), toChallenge)
  const host = new HostIdentities(fastify.hasRequestDecorator('identity'), fastify.log)
  const isOpen = (): boolean => !authority.exists && (!host.expected || allowAnonymous)

  fastify.mcp.provide('identities', {
    get required () { return !isOpen() },
    authenticate: async credential => {
      if (!authority.exists) throw new Error('no credential can be checked here: neither apiKeys nor oauth is set')
      return await authority.recognise(credential)
    },
    replaceKeys: listed => {
      const changes = authority.replaceKeys(listed)
      for (const holder of changes.holders) rescheduleExpiry(holder)
      return changes
    },
    issueTicket: identity => tickets.issue(identity, identity.principal ?? '', identity.expires)
  })
  if (!host.expected) fastify.decorateRequest('identity')

  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.identity !== undefined && request.identity !== null) {
      if (!host.expected) expectIdentities()
      const error = host.check(request.identity, toChallenge)
      if (error !== undefined) request.identity = UNAUTHENTICATED
      return done(error && refuse(request, reply, error))
    }
    if (isOpen()) return setIdentity(request, ANONYMOUS_ALL_SCOPES, done)
    try {
      const identity = authenticator.identify(attemptOf(request))
      if (!(identity instanceof Promise)) return setIdentity(request, identity, done)
      identity.then(found => setIdentity(request, found, done), error => done(refuse(request, reply, error)))
    } catch (error) {
      done(refuse(request, reply, error))
    }
  })

  fastify.addHook('onReady', async () => {
    authority.warm()
    if (!fastify.mcp.standalone && isOpen() && !allowAnonymous) fastify.log.warn(OPEN)
  })
  fastify.addHook('onClose', async () => authority.close())

  // The application did not decorate requests beforehand, so anonymous callers may be connected.
  function expectIdentities (): void {
    host.expected = true
    if (!isOpen()) host.disconnectAnonymous(fastify.mcp.dispatcher)
    if (!authority.exists && !allowAnonymous) fastify.log.warn(UNDECORATED)
  }

  function refuse (request: FastifyRequest, reply: FastifyReply, error: unknown): Error {
    const refusal = authenticator.toHttpError(error, networkOf(request.ip))
    // A host application's own error handler may not look at the headers of an error.
    if (isHttpError(refusal)) reply.headers(refusal.headers)
    if (error instanceof CredentialRefused && error.cause instanceof Error && isHttpError(refusal) && refusal.statusCode === 401) {
      request.log.info({ reqId: request.id, reason: error.cause.message }, error.message)
    }
    return refusal
  }
}, { name: 'patchbay-auth', dependencies: ['patchbay-mcp', 'patchbay-health'] })

function attemptOf ({ raw, query, headers, method, ip, routeOptions: { config } }: FastifyRequest): Attempt {
  return {
    carrier: raw,
    query: Object(query) as Record<string, unknown>,
    address: networkOf(ip),
    takesTickets: config?.tickets === true && method === 'GET',
    isPublic: config?.public === true && headers.upgrade === undefined
  }
}

function setIdentity (request: FastifyRequest, identity: Identity, done: () => void): void {
  request.identity = identity
  done()
}
