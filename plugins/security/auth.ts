import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { audienceOf, challenge, type Challenger } from '../../protocol/http/protected-resource.js'
import { isHttpError } from '../../protocol/http/http-error.js'
import type { Challenge } from '../../protocol/http/http-errors.js'
import { rescheduleExpiry } from '../../protocol/peer/expiry.js'
import type { IdentityCarrier } from '../../protocol/wire/carried-identity.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import type { KeyChanges, ListedKey } from '../../system/credentials/api-key.js'
import { openAuthority, type Authority } from '../../system/credentials/authority.js'
import { CredentialRefused } from '../../system/credentials/credential-error.js'
import { Tickets } from '../../system/credentials/tickets.js'
import { WrongCredentials } from '../../system/credentials/wrong-credentials.js'
import { networkOf } from '../../system/rate/network.js'
import { Authenticator, type Attempt } from './auth/authenticator.js'
import { HostIdentities } from './auth/host-identities.js'
import { identityCarrier } from './auth/identity-carrier.js'
import { SharedTickets, type TicketBook } from './auth/shared-tickets.js'

declare module '../core/mcp.js' {
  interface Mcp {
    identities: IdentityCarrier & {
      /** False where every caller is anonymous and has every right. */
      readonly required: boolean
      /** The identity that an API key or access token proves. Rejects with a sentence that says why there is none. */
      authenticate: (credential: string) => Promise<Identity>
      /**
       * Accepts these keys instead of the present ones. Connections of a removed key end as if it had expired; a key
       * whose scopes changed has the new ones at once, also on open connections. Throws a sentence, and changes
       * nothing, when an entry is not valid.
       */
      replaceKeys: (apiKeys: ListedKey[]) => KeyChanges
      /** The identities of the API keys, also of those that have expired. */
      ofKeys: () => readonly Identity[]
      /** A ticket for one request that cannot carry a header; undefined when the caller has too many. */
      issueTicket: TicketBook['issue']
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The identity of the caller. A host application may set it in an earlier hook. Once the application has decorated
     * requests with it, or has set it on one, a request without it has no rights.
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
  oauth?: { issuer: string, resource: string, jwks?: string, algorithms?: string[], viewClaim?: string } | undefined
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
const OPEN =
  'callers are not identified: every client that reaches this application has every right in Patchbay. Set option apiKeys or oauth, ' +
  "or call app.decorateRequest('identity') before you register Patchbay and set request.identity in a hook, or set option allowAnonymous"
const UNDECORATED =
  'requests that came before the application set request.identity for the first time had every right: ' +
  "call app.decorateRequest('identity') before you register Patchbay"

/**
 * Sets `request.identity`, on every route and on the WebSocket upgrade, after the Host and Origin checks and before the
 * body is read.
 */
export default fp(async (fastify, options: AuthOptions) => {
  const { ticketLifetime, allowAnonymous, maxWrongCredentials, challenger, scopes } = options
  const { mcp, log } = fastify
  const authority = await openReportedAuthority(fastify, options)
  const toChallenge: Challenge = (error, description) => challenge(challenger, { error, description, scopes })
  const host = new HostIdentities(fastify.hasRequestDecorator('identity'), log, toChallenge)
  const isOpen = (): boolean => !authority.exists && (!host.expected || allowAnonymous)
  const carrier = identityCarrier({ authority, isOpen, hasHost: () => host.expected })
  const tickets = mcp.store.kind === 'redis'
    ? new SharedTickets(mcp.store.values, ticketLifetime, carrier)
    : ownTickets(ticketLifetime)
  const authenticator = new Authenticator(authority, tickets, new WrongCredentials(maxWrongCredentials), toChallenge)

  mcp.provide('identities', {
    ...carrier,
    get required () { return !isOpen() },
    authenticate: async credential => {
      if (!authority.exists) throw new Error('no credential can be checked here: neither apiKeys nor oauth is set')
      return await authority.recognise(credential)
    },
    ofKeys: () => authority.holders(),
    replaceKeys: listed => replaceKeys(authority, listed),
    issueTicket: identity => tickets.issue(identity)
  })
  if (!host.expected) fastify.decorateRequest('identity')

  fastify.addHook('onRequest', (request, reply, done) => {
    const accept = (identity: Identity): void => { request.identity = identity; done() }
    const refuse = (error: unknown): void => done(toRefusal(request, reply, error, authenticator))
    let identity: Identity | Promise<Identity>
    try {
      identity = identify(request)
    } catch (error) {
      return refuse(error)
    }
    if (identity instanceof Promise) identity.then(accept, refuse)
    else accept(identity)
  })
  fastify.addHook('onReady', async () => {
    authority.warm()
    if (!mcp.standalone && isOpen() && !allowAnonymous) log.warn(OPEN)
  })
  fastify.addHook('onClose', async () => authority.close())

  function identify (request: FastifyRequest): Identity | Promise<Identity> {
    if (request.identity !== undefined && request.identity !== null) return fromHost(request.identity)
    return isOpen() ? ANONYMOUS_ALL_SCOPES : authenticator.identify(attemptOf(request))
  }

  // An application that did not decorate requests beforehand may have anonymous callers connected when it sets its
  // first identity.
  function fromHost (identity: unknown): Identity {
    if (!host.expected) {
      host.expected = true
      if (!isOpen()) host.disconnectAnonymous(mcp.dispatcher.lifecycle)
      if (!authority.exists && !allowAnonymous) log.warn(UNDECORATED)
    }
    return host.check(identity)
  }
}, { name: 'patchbay-auth', dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-rules'] })

function replaceKeys (authority: Authority, listed: ListedKey[]): KeyChanges {
  const changes = authority.replaceKeys(listed)
  for (const holder of changes.holders) rescheduleExpiry(holder)
  return changes
}

/** Logs, and reports to `/health`, that the keys of the issuer cannot be fetched. */
async function openReportedAuthority (
  { log, mcp: { health, rules } }: FastifyInstance,
  { apiKeys, oauth }: AuthOptions
): Promise<Authority> {
  const authority = await openAuthority({
    apiKeys,
    oauth: oauth && { ...oauth, audience: audienceOf(oauth.resource) },
    onTrouble: error => {
      if (error !== undefined) log.warn({ err: error }, UNREACHABLE)
      health.report('oauth', error === undefined ? undefined : UNREACHABLE)
    }
  })
  rules.onClaims(names => authority.readClaims(names))
  return authority
}

function toRefusal (request: FastifyRequest, reply: FastifyReply, error: unknown, authenticator: Authenticator): Error {
  const refusal = authenticator.toHttpError(error, networkOf(request.ip))
  if (!isHttpError(refusal)) return refusal
  // A host application's own error handler may not look at the headers of an error.
  reply.headers(refusal.headers)
  // The reason is for the operator; the client gets no more than the text.
  if (error instanceof CredentialRefused && error.cause instanceof Error && refusal.statusCode === 401) {
    request.log.info({ reqId: request.id, reason: error.cause.message }, error.message)
  }
  return refusal
}

function attemptOf ({ raw, query, headers, method, ip, routeOptions: { config } }: FastifyRequest): Attempt {
  return {
    carrier: raw,
    query: Object(query) as Record<string, unknown>,
    address: networkOf(ip),
    takesTickets: config?.tickets === true && method === 'GET',
    isPublic: config?.public === true && headers.upgrade === undefined
  }
}

/** Tickets of this process. */
function ownTickets (lifetime: number): TicketBook {
  const tickets = new Tickets<Identity>(lifetime)
  return {
    issue: identity => tickets.issue(identity, identity.principal ?? '', identity.expires),
    redeem: ticket => tickets.redeem(ticket)
  }
}
