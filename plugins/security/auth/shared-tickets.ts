import { randomBytes } from 'node:crypto'
import { httpErrors } from '../../../protocol/http/http-errors.js'
import type { Values } from '../../../protocol/store.js'
import { carryIdentity, takeIdentity, type CarriedIdentity } from '../../../protocol/wire/carried-identity.js'
import { isFull } from '../../../protocol/wire/errors.js'
import { hasExpired, type Identity } from '../../../protocol/wire/identity.js'
import type { IssuedTicket, TicketBook } from './ticket-book.js'
import { digestOf } from '../../../system/credentials/api-key.js'

const SPACE = 'tickets'
const MAX_TICKETS = 10_000

/** Tickets in a store that several nodes share: one that is issued at one node is good at all, once. Only their hashes are stored. */
export class SharedTickets implements TicketBook {
  readonly #values: Values
  readonly #lifetime: number

  constructor (values: Values, lifetime: number) {
    this.#values = values
    this.#lifetime = lifetime
  }

  /** Undefined when there are too many unused ones. Rejects with an HTTP error when the store fails. */
  async issue (identity: Identity): Promise<IssuedTicket | undefined> {
    const ticket = randomBytes(32).toString('base64url')
    const expires = Math.min(Date.now() + this.#lifetime, identity.expires ?? Infinity)
    try {
      await this.#values.put(SPACE, keyOf(ticket), carryIdentity(identity), { expires, max: MAX_TICKETS })
    } catch (error) {
      if (isFull(error)) return undefined
      throw httpErrors.ticketsUnavailable((error as Error).message)
    }
    return { ticket, expiresIn: Math.max(0, expires - Date.now()) }
  }

  /** The identity of a ticket, which is used up by this; undefined if it is not valid. Rejects with an HTTP error when the store fails. */
  async redeem (ticket: string): Promise<Identity | undefined> {
    const taken = this.#values.take(SPACE, keyOf(ticket)) as Promise<CarriedIdentity | undefined>
    const carried = await taken.catch((error: Error) => { throw httpErrors.credentialUnverifiable(error.message) })
    const identity = carried === undefined ? undefined : takeIdentity(carried)
    return identity === undefined || hasExpired(identity) ? undefined : identity
  }
}

const keyOf = (ticket: string): string => digestOf(ticket).toString('base64')
