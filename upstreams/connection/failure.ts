import { now } from '../../lib/time.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import { AccessRefused, SignInRequired, type Credential } from '../../transports/client/credential.js'
import { signInRequired } from '../reasons.js'

/** A request that got no response from the upstream. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'

  /** `status` is that of the HTTP reply, if there was one; `refusal` what it said about the credential. */
  constructor (message: string, readonly status: number | undefined, readonly refusal?: AccessRefused) {
    super(message)
  }
}

/** The refusal of the credential that a failure is; undefined for others. */
export const refusalIn = (error: unknown): AccessRefused | undefined =>
  error instanceof AccessRefused ? error : error instanceof RequestFailed ? error.refusal : undefined

/** How often a connection is opened with another token than the one that the server refused. */
const MAX_RENEWALS = 2

/** Opens something with the credential as it is stored now, and again with another one where the server refuses it. */
export async function openWith<T> (credential: Credential | undefined, open: () => Promise<T>): Promise<T> {
  await credential?.load()
  for (let renewals = 0; ; renewals++) {
    try {
      return await open()
    } catch (error) {
      const refusal = refusalIn(error)
      if (credential === undefined || refusal === undefined) throw error
      if (renewals === MAX_RENEWALS) throw new SignInRequired('it does not accept the token that it was just given')
      await credential.renew(refusal)
    }
  }
}

/**
 * A request that the upstream refused because it has forgotten the session: it was not run, and may be sent again after
 * a new handshake.
 */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

/**
 * A session that is lost within so many milliseconds after the one before it was is one that does not last, and so many
 * of them in a row are too many.
 */
const SHORT = 5_000
const MAX_SHORT = 5

/** Counts sessions that the upstream forgets as soon as they have begun: each costs it and us a handshake. */
export class LostSessions {
  #lostAt = -Infinity
  #short = 0

  /**
   * Throws when too many in a row did not last: the connection is to fail, so that the next is opened after a delay.
   */
  add (): void {
    const at = now()
    this.#short = at - this.#lostAt < SHORT ? this.#short + 1 : 0
    this.#lostAt = at
    if (this.#short > MAX_SHORT) throw new Error('it forgets each session as soon as it has begun')
  }
}

/** Errors of the upstream stay as they are, except for those that are about this hop alone. */
export function toClientError (error: unknown, alias: string, { stateless }: Revision): unknown {
  if (error instanceof SignInRequired) return signInRequired(alias, error.message)
  if (refusalIn(error) !== undefined) return signInRequired(alias, 'it does not accept the present one')
  if (error instanceof RequestFailed || error instanceof SessionLost) return errors.upstreamFailed(alias, error.message)
  if (!isMcpError(error) || !stateless) return error
  if (error.code === codes.headerMismatch) return errors.upstreamFailed(alias, 'it refused the headers of the request')
  return error.code === codes.unsupportedVersion
    ? errors.upstreamFailed(alias, 'it refused the version of the protocol that it announced')
    : error
}
