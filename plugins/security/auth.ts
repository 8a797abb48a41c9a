import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { challenge, type Challenger } from '../../protocol/http/challenge.js'
import { isHttpError } from '../../protocol/http/http-error.js'
import { audienceOf } from '../../protocol/http/protected-resource.js'
import { rescheduleExpiry } from '../../protocol/peer/expiry.js'
import type { Peer } from '../../protocol/peer/peer.js'
import { errors } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import type { KeyChanges, ListedKey } from '../../system/credentials/api-key.js'
import { openAuthority } from '../../system/credentials/authority.js'
import { CredentialRefused } from '../../system/credentials/credential-error.js'
import { Tickets } from '../../system/credentials/tickets.js'
import { WrongCredentials } from '../../system/credentials/wrong-credentials.js'
import { networkOf } from '../../system/rate/network.js'
import { Authenticator, type Attempt } from './auth/authenticator.js'

declare module '../core/mcp.js' {
  interface Mcp {
    identities: {
      /** False where nobody has to say who they are. */
      readonly required: boolean
      /** Whom a key or an access token speaks for. Rejects with a sentence that says why nobody. */
      authenticate: (credential: string) => Promise<Identity>
      /**
       * Accepts these keys from now on. What a removed key let in ends as if the key had expired; a key whose scopes changed has the new ones at
       * once, also on connections that are open. Throws a sentence, and changes nothing, when something listed makes no sense.
       */
      replaceKeys: (apiKeys: ListedKey[]) => KeyChanges
      /** A pass for one request that cannot carry a header; undefined when there are too many. */
      issueTicket: (identity: Identity) => { ticket: string, expiresIn: number } | undefined
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Who is asking. A host application may set it in an earlier hook; it is believed. Once the application has decorated requests with it, or has
     * set it on one, a request without it has no rights.
     */
    identity: Identity
  }
  interface FastifyContextConfig {
    /** True for what is shown to those, too, who do not say who they are. */
    public?: boolean
    /** True where a ticket may stand in for a header that a browser cannot send. */
    tickets?: boolean
  }
}

export interface AuthOptions {
  apiKeys: ListedKey[]
  oauth?: { issuer: string, resource: string, jwks?: string, algorithms?: string[] } | undefined
  ticketLifetime: number
  /** True where a request for which the application sets no identity has every right. */
  allowAnonymous: boolean
  /** How many wrong credentials one address may send in a minute before it is answered with 429. */
  maxWrongCredentials: number
  challenger: Challenger
  /** What a client asks its authorization server for, to begin with. */
  scopes: readonly string[]
}

const UNREACHABLE = 'access tokens cannot be checked, because the keys of their issuer cannot be fetched'
const NOT_IDENTIFIED = 'the application did not say who is calling'
const UNDECORATED = "requests that came before the application set request.identity for the first time had every right: call app.decorateRequest('identity') before you register Patchbay"

/** Finds out who is asking, on every route and on the WebSocket upgrade, after the Host and Origin checks and before anything is read. */
export default fp(async (fastify, { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, challenger, scopes }: AuthOptions) => {
  const authority = await openAuthority({
    apiKeys,
    oauth: oauth && { ...oauth, audience: audienceOf(oauth.resource) },
    onTrouble: error => {
      if (error !== undefined) fastify.log.warn({ err: error }, UNREACHABLE)
      fastify.mcp.health.report('oauth', error === undefined ? undefined : UNREACHABLE)
    }
  })
  const tickets = new Tickets<Identity>(ticketLifetime)
  const authenticator = new Authenticator(authority, tickets, new WrongCredentials(maxWrongCredentials), (error, description) =>
    challenge(challenger, { ...(error === undefined ? {} : { error }), ...(description === undefined ? {} : { description }), scopes }))
  /** True where an application says who is calling. */
  let hosted = fastify.hasRequestDecorator('identity')
  const isOpen = (): boolean => !authority.exists && (!hosted || allowAnonymous)

  fastify.mcp.provide('identities', {
    get required () { return !isOpen() },
    authenticate: async credential => {
      if (!authority.exists) throw new Error('nobody can authenticate here: neither apiKeys nor oauth is set')
      return await authority.recognise(credential)
    },
    replaceKeys: listed => {
      const changes = authority.replaceKeys(listed)
      for (const holder of changes.holders) rescheduleExpiry(holder)
      return changes
    },
    issueTicket: identity => tickets.issue(identity, identity.principal ?? '', identity.expires)
  })
  if (!hosted) fastify.decorateRequest('identity')

  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.identity !== undefined && request.identity !== null) {
      if (!hosted) believe()
      return done()
    }
    if (isOpen()) return setIdentity(request, ANONYMOUS_ALL_SCOPES, done)
    try {
      const identity = authenticator.identify(attemptOf(request))
      if (identity instanceof Promise) identity.then(found => setIdentity(request, found, done), error => done(refuse(request, reply, error)))
      else setIdentity(request, identity, done)
    } catch (error) {
      done(refuse(request, reply, error))
    }
  })

  fastify.addHook('onReady', async () => authority.warm())
  fastify.addHook('onClose', async () => authority.close())

  // The application has not said beforehand that it would, so callers without an identity may have got in.
  function believe (): void {
    hosted = true
    if (!isOpen()) for (const peer of [...fastify.mcp.dispatcher.peers]) if (isAnonymous(peer)) dismiss(peer)
    if (!authority.exists && !allowAnonymous) fastify.log.warn(UNDECORATED)
  }

  function dismiss (peer: Peer): void {
    peer.giveUp(errors.interrupted('The application has begun to say who is calling, and did not say it of this caller,'))
    fastify.mcp.dispatcher.disconnect(peer, new Error(NOT_IDENTIFIED))
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

const isAnonymous = ({ identity: { principal, scopes }, transport }: Peer): boolean =>
  principal === undefined && scopes === 'all' && transport !== 'stdio' && transport !== 'memory'

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
