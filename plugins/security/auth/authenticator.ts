import type { HttpError } from '../../../protocol/http/http-error.js'
import { httpErrors, type Challenge } from '../../../protocol/http/http-errors.js'
import { hasExpired, UNAUTHENTICATED, type Identity } from '../../../protocol/wire/identity.js'
import type { Authority } from '../../../system/credentials/authority.js'
import { CredentialRefused, CredentialUnknowable } from '../../../system/credentials/credential-error.js'
import { readPresented, type Carrier } from '../../../system/credentials/presented.js'
import type { WrongCredentials } from '../../../system/credentials/wrong-credentials.js'
import type { TicketBook } from './shared-tickets.js'

/** The parts of an HTTP request that decide who its caller is. */
export interface Attempt {
  carrier: Carrier
  query: Record<string, unknown>
  /** The network that wrong credentials are counted by. */
  address: string
  /** True where a ticket counts as a credential. */
  takesTickets: boolean
  /** True where a request without a credential is served, with no rights. */
  isPublic: boolean
}

/** Finds the identity that the credential of a request proves. What is wrong with a credential is an `HttpError`. */
export class Authenticator {
  readonly #authority: Authority
  readonly #tickets: TicketBook
  readonly #wrong: WrongCredentials
  readonly #challenge: Challenge

  constructor (authority: Authority, tickets: TicketBook, wrong: WrongCredentials, challenge: Challenge) {
    this.#authority = authority
    this.#tickets = tickets
    this.#wrong = wrong
    this.#challenge = challenge
  }

  /** At once where that is possible. Throws or rejects with what `toHttpError` takes. */
  identify ({ carrier, query, address, takesTickets, isPublic }: Attempt): Identity | Promise<Identity> {
    const shown = readPresented(carrier, query, takesTickets)
    if ('ticket' in shown) return this.#redeem(shown.ticket, address)
    if (!this.#authority.exists) {
      if (isPublic) return UNAUTHENTICATED
      throw httpErrors.noIdentity(this.#challenge)
    }
    if ('credential' in shown) return this.#authority.recognise(shown.credential)
    if ('malformed' in shown) {
      throw this.#countWrong(address, httpErrors.credentialMalformed(shown.malformed, this.#challenge))
    }
    if (shown.none !== undefined) {
      throw this.#countWrong(address, httpErrors.credentialIgnored(shown.none, this.#challenge, shown.reason))
    }
    if (isPublic) return UNAUTHENTICATED
    throw httpErrors.noCredential(this.#challenge)
  }

  /** Makes the HTTP error that the client gets for an error of `identify`. */
  toHttpError (error: unknown, address: string): Error {
    if (error instanceof CredentialRefused) {
      return this.#countWrong(address, httpErrors.credentialRefused(error.message, this.#challenge, error))
    }
    if (error instanceof CredentialUnknowable) return httpErrors.credentialUnverifiable(error.message)
    return error as Error
  }

  #redeem (ticket: string, address: string): Identity | Promise<Identity> {
    const redeemed = this.#tickets.redeem(ticket)
    return redeemed instanceof Promise
      ? redeemed.then(identity => this.#check(identity, address))
      : this.#check(redeemed, address)
  }

  // A ticket ends with the credential that it was issued to.
  #check (identity: Identity | undefined, address: string): Identity {
    if (identity === undefined || hasExpired(identity)) {
      throw this.#countWrong(address, httpErrors.ticketRefused(this.#challenge))
    }
    return identity
  }

  // The credential was checked before: beyond the limit only the reply changes, so that a flood of wrong credentials
  // keeps no right one out.
  #countWrong (address: string, error: HttpError): HttpError {
    const { beyond, ms } = this.#wrong.add(address)
    return beyond === 0 ? error : httpErrors.tooManyWrongCredentials(Math.ceil(ms / 1_000), beyond > 1)
  }
}
