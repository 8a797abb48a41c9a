import type { FastifyBaseLogger } from 'fastify'
import { httpErrors, type Challenge } from '../../../protocol/http/http-errors.js'
import type { Peer } from '../../../protocol/peer/peer.js'
import { errors } from '../../../protocol/wire/errors.js'
import { IDENTITY_SHAPE, isIdentity, type Identity } from '../../../protocol/wire/identity.js'

const SHAPE = `the application set a request.identity of another shape than ${IDENTITY_SHAPE}; such requests are refused with 401`
const NOT_IDENTIFIED = 'the application did not say who is calling'

/** The identities that a host application sets on requests. */
export class HostIdentities {
  readonly #log: FastifyBaseLogger
  readonly #challenge: Challenge
  #shapeIsLogged = false
  /**
   * True once it is known that the application identifies callers: from then on a request without an identity has no
   * rights.
   */
  expected: boolean

  constructor (expected: boolean, log: FastifyBaseLogger, challenge: Challenge) {
    this.expected = expected
    this.#log = log
    this.#challenge = challenge
  }

  /** Throws an `HttpError` for an identity that cannot be used. */
  check (identity: unknown): Identity {
    if (isIdentity(identity)) return identity
    if (!this.#shapeIsLogged) this.#log.error(SHAPE)
    this.#shapeIsLogged = true
    throw httpErrors.identityMalformed(this.#challenge)
  }

  /** Ends the connections of anonymous callers, who connected before the application set its first identity. */
  disconnectAnonymous (mcp: { peers: Iterable<Peer>, disconnect: (peer: Peer, reason: Error) => void }): void {
    for (const peer of [...mcp.peers]) {
      if (!isAnonymous(peer)) continue
      peer.giveUp(errors.interrupted('The application now identifies its callers, and not this one,'))
      mcp.disconnect(peer, new Error(NOT_IDENTIFIED))
    }
  }
}

const isAnonymous = ({ identity: { principal, scopes }, transport }: Peer): boolean =>
  principal === undefined && scopes === 'all' && transport !== 'stdio' && transport !== 'memory'
