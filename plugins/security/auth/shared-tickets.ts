import { randomBytes } from 'node:crypto'
import { httpErrors } from '../../../protocol/http/http-errors.js'
import type { Values } from '../../../protocol/store.js'
import type { CarriedIdentity, IdentityCarrier } from '../../../protocol/wire/carried-identity.js'
import { isFull } from '../../../protocol/wire/errors.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { digestOf } from '../../../system/credentials/api-key.js'
import { MAX_PER_OWNER } from '../../../system/credentials/tickets.js'

/** How many characters at the beginning of a ticket name its owner. */
const OWNER_LENGTH = 22
const TICKET = /^[\w-]{65}$/

/**
 * Tickets in a store that several nodes share: one that is issued at one node is good at all, once. Only their hashes
 * are stored, with the id of the credential. Each owner has a space of its own, which the ticket names, so that the
 * store counts the unused ones in the same step.
 */
export class SharedTickets implements TicketBook {
  readonly #values: Values
  readonly #lifetime: number
  readonly #identities: IdentityCarrier

  constructor (values: Values, lifetime: number, identities: IdentityCarrier) {
    this.#values = values
    this.#lifetime = lifetime
    this.#identities = identities
  }

  /** Undefined when the owner has too many unused ones. Rejects with an HTTP error when the store fails. */
  async issue (identity: Identity): Promise<IssuedTicket | undefined> {
    const owner = digestOf(identity.principal ?? '').toString('base64url').slice(0, OWNER_LENGTH)
    const ticket = owner + randomBytes(32).toString('base64url')
    const expires = Math.min(Date.now() + this.#lifetime, identity.expires ?? Infinity)
    try {
      await this.#values.put(spaceOf(ticket), keyOf(ticket), this.#identities.carry(identity), {
        expires,
        max: MAX_PER_OWNER
      })
    } catch (error) {
      if (isFull(error)) return undefined
      throw httpErrors.ticketsUnavailable((error as Error).message)
    }
    return { ticket, expiresIn: Math.max(0, expires - Date.now()) }
  }

  /**
   * The identity of a ticket, as this node knows it now. The ticket is used up by this. Rejects with an HTTP error when
   * the store fails.
   */
  async redeem (ticket: string): Promise<Identity | undefined> {
    if (!TICKET.test(ticket)) return undefined
    const taken = this.#values.take(spaceOf(ticket), keyOf(ticket)) as Promise<CarriedIdentity | undefined>
    const carried = await taken.catch((error: Error) => { throw httpErrors.credentialUnverifiable(error.message) })
    return carried === undefined ? undefined : this.#identities.adopt(carried)
  }
}

const spaceOf = (ticket: string): string => `tickets:${ticket.slice(0, OWNER_LENGTH)}`

const keyOf = (ticket: string): string => digestOf(ticket).toString('base64')

/** Where tickets are kept: in this process, or where other nodes find them too. */
export interface TicketBook {
  /** Undefined when the caller has too many. */
  issue: (identity: Identity) => IssuedTicket | undefined | Promise<IssuedTicket | undefined>
  /** The identity of a ticket, which is used up by this. */
  redeem: (ticket: string) => Identity | undefined | Promise<Identity | undefined>
}

interface IssuedTicket { ticket: string, expiresIn: number }
