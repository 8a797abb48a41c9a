import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { challenge, type Challenger } from '../../protocol/http/challenge.js'
import { errors } from '../../protocol/wire/errors.js'
import { rescheduleExpiry } from '../../protocol/peer/expiry.js'
import { ANONYMOUS_ALL_SCOPES, hasExpired, UNAUTHENTICATED, type Identity } from '../../protocol/wire/identity.js'
import type { Peer } from '../../protocol/peer/peer.js'
import { audienceOf } from '../../protocol/http/protected-resource.js'
import { refusal, type Refusal } from '../../protocol/http/http-error.js'
import type { KeyChanges, ListedKey } from '../../system/credentials/api-key.js'
import { openAuthority } from '../../system/credentials/authority.js'
import { CredentialRefused, CredentialUnknowable, type RefusalReason } from '../../system/credentials/credential-error.js'
import { presented } from '../../system/credentials/presented.js'
import { Tickets } from '../../system/credentials/tickets.js'
import { WrongCredentials } from '../../system/credentials/wrong-credentials.js'
import { networkOf } from '../../system/rate/network.js'

declare module 'fastify' {
  interface FastifyInstance {
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

interface CredentialTrouble { reason: RefusalReason, detail?: string | undefined }

const UNREACHABLE = 'access tokens cannot be checked, because the keys of their issuer cannot be fetched'
const RETRY_AFTER = 5
const UNTOLD = 'the application did not say who is calling'
const UNDECORATED = "requests that came before the application set request.identity for the first time had every right: call app.decorateRequest('identity') before you register Patchbay"
const TOO_MANY = 'too many wrong credentials from this address (option maxWrongCredentials); a right one is accepted at any time'

/** Finds out who is asking, on every route and on the WebSocket upgrade, after the Host and Origin checks and before anything is read. */
export default fp(async (fastify, { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, challenger, scopes }: AuthOptions) => {
  const authority = await openAuthority({
    apiKeys,
    oauth: oauth && { ...oauth, audience: audienceOf(oauth.resource) },
    onTrouble: error => {
      if (error !== undefined) fastify.log.warn({ err: error }, UNREACHABLE)
      fastify.health.report('oauth', error === undefined ? undefined : UNREACHABLE)
    }
  })
  const tickets = new Tickets<Identity>(ticketLifetime)
  const wrong = new WrongCredentials(maxWrongCredentials)
  /** True where an application says who is calling. */
  let hosted = fastify.hasRequestDecorator('identity')
  const isOpen = (): boolean => !authority.exists && (!hosted || allowAnonymous)

  fastify.decorate('identities', {
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
    if (isOpen()) return admit(request, ANONYMOUS_ALL_SCOPES, done)
    try {
      const identity = identify(request, reply)
      if (identity instanceof Promise) identity.then(found => admit(request, found, done), error => done(explain(error, request, reply)))
      else admit(request, identity, done)
    } catch (error) {
      done(explain(error, request, reply))
    }
  })

  fastify.addHook('onReady', async () => authority.warm())
  fastify.addHook('onClose', async () => authority.close())

  // The application has not said beforehand that it would, so callers without an identity may have got in.
  function believe (): void {
    hosted = true
    if (!isOpen()) for (const peer of [...fastify.mcp.peers]) if (isAnonymous(peer)) dismiss(peer)
    if (!authority.exists && !allowAnonymous) fastify.log.warn(UNDECORATED)
  }

  function dismiss (peer: Peer): void {
    peer.giveUp(errors.interrupted('The application has begun to say who is calling, and did not say it of this caller,'))
    fastify.mcp.disconnect(peer, new Error(UNTOLD))
  }

  function identify (request: FastifyRequest, reply: FastifyReply): Identity | Promise<Identity> {
    const { raw, query, headers, routeOptions: { config } } = request
    const shown = presented(raw, Object(query) as Record<string, unknown>, config?.tickets === true && request.method === 'GET')
    const isPublic = config?.public === true && headers.upgrade === undefined
    if (!authority.exists && !('ticket' in shown)) return isPublic ? UNAUTHENTICATED : refuse(reply, 401, UNTOLD, { reason: 'no_identity' })
    if ('credential' in shown) return authority.recognise(shown.credential)
    if ('ticket' in shown) return redeem(shown.ticket) ?? refuseWrong(request, reply, 401, 'the ticket is not known, was used or has expired', { reason: 'unknown_ticket' }, 'invalid_token')
    if ('malformed' in shown) return refuseWrong(request, reply, 400, shown.malformed, { reason: 'malformed_credential', detail: shown.malformed }, 'invalid_request')
    if (isPublic && shown.none === undefined) return UNAUTHENTICATED
    if (shown.none !== undefined) return refuseWrong(request, reply, 401, shown.none, { reason: shown.reason })
    return refuse(reply, 401, 'say who you are: send "Authorization: Bearer" with an API key or an access token', { reason: shown.reason })
  }

  /** Whom a ticket lets in; a ticket ends with the credential that got it. */
  function redeem (ticket: string): Identity | undefined {
    const identity = tickets.redeem(ticket)
    return identity === undefined || hasExpired(identity) ? undefined : identity
  }

  function explain (error: unknown, request: FastifyRequest, reply: FastifyReply): Error {
    if (error instanceof CredentialRefused) {
      const refusal = refusedAsWrong(request, reply, 401, error.message, error, 'invalid_token')
      // Whoever runs this may want to know; the caller need not.
      if (error.cause instanceof Error && refusal.statusCode === 401) request.log.info({ reqId: request.id, reason: error.cause.message }, error.message)
      return refusal
    }
    if (!(error instanceof CredentialUnknowable)) return error as Error
    return refusal(503, `${error.message}; try again later`, RETRY_AFTER)
  }

  function refused (reply: FastifyReply, status: number, why: string, { reason, detail }: CredentialTrouble, error?: string): Refusal {
    reply.header('www-authenticate', challenge(challenger, { ...(error === undefined ? {} : { error, description: why }), scopes }))
    return Object.assign(refusal(status, why), { because: { reason, detail } })
  }

  // The credential was checked: beyond the limit only the answer changes, so that no flood of wrong ones keeps a right one out.
  function refusedAsWrong (request: FastifyRequest, reply: FastifyReply, status: number, why: string, because: CredentialTrouble, error?: string): Refusal {
    const { beyond, ms } = wrong.add(networkOf(request.ip))
    if (beyond === 0) return refused(reply, status, why, because, error)
    const seconds = Math.ceil(ms / 1_000)
    reply.header('retry-after', seconds)
    return Object.assign(refusal(429, TOO_MANY, seconds), { because: { reason: 'too_many_wrong' }, quiet: beyond > 1 })
  }

  function refuseWrong (request: FastifyRequest, reply: FastifyReply, status: number, why: string, because: CredentialTrouble, error?: string): never {
    throw refusedAsWrong(request, reply, status, why, because, error)
  }

  function refuse (reply: FastifyReply, status: number, why: string, because: CredentialTrouble, error?: string): never {
    throw refused(reply, status, why, because, error)
  }
}, { name: 'patchbay-auth' })

const isAnonymous = ({ identity: { principal, scopes }, transport }: Peer): boolean =>
  principal === undefined && scopes === 'all' && transport !== 'stdio' && transport !== 'memory'

function admit (request: FastifyRequest, identity: Identity, done: () => void): void {
  request.identity = identity
  done()
}
