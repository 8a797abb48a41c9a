import { carryRights, rightsOf, type IdentityCarrier } from '../../../protocol/wire/carried-identity.js'
import { ANONYMOUS_ALL_SCOPES, hasExpired, type Identity } from '../../../protocol/wire/identity.js'
import type { Authority } from '../../../system/credentials/authority.js'

export interface CarrierPorts {
  authority: Authority
  /** True while callers need no identity at this node. */
  isOpen: () => boolean
  /** True while a host application identifies callers at this node. */
  hasHost: () => boolean
}

/**
 * Carries the identities of this node, and adopts those of others only as far as the same credential would count here.
 */
export function identityCarrier ({ authority, isOpen, hasHost }: CarrierPorts): IdentityCarrier {
  return {
    carry: identity => {
      const id = authority.idOf(identity)
      if (id !== undefined) return { kind: 'key', id }
      // With the address of its connection, the identity of an anonymous caller is an object of its own.
      if (!hasHost() && identity.principal === undefined && identity.scopes === 'all') return { kind: 'anonymous' }
      return carryRights(authority.isOfToken(identity) ? 'token' : 'host', identity)
    },
    adopt: carried => {
      const identity = find(carried)
      return identity === undefined || hasExpired(identity) ? undefined : identity
    }
  }

  function find (carried: Parameters<IdentityCarrier['adopt']>[0]): Identity | undefined {
    if (carried.kind === 'key') return authority.holderOf(carried.id)
    if (carried.kind === 'anonymous') return isOpen() ? ANONYMOUS_ALL_SCOPES : undefined
    const identity = rightsOf(carried)
    if (carried.kind === 'host') return hasHost() ? identity : undefined
    return identity?.principal !== undefined && authority.trustsIssuerOf(identity.principal) ? identity : undefined
  }
}
