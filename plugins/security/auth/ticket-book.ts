import type { Identity } from '../../../protocol/wire/identity.js'

/** Where tickets are kept: in this process, or where other nodes find them too. */
export interface TicketBook {
  /** Undefined when the caller has too many. */
  issue: (identity: Identity) => IssuedTicket | undefined | Promise<IssuedTicket | undefined>
  /** The identity of a ticket, which is used up by this. */
  redeem: (ticket: string) => Identity | undefined | Promise<Identity | undefined>
}

export interface IssuedTicket { ticket: string, expiresIn: number }
