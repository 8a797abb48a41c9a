import type { Identity } from './identity.js'
import { isObject } from './json.js'

/**
 * An identity as JSON, for another node or a later time. The rights of an API key are never carried: they are looked up
 * by the id of the key where they are used. An access token cannot be revoked, so its rights are carried, and end when
 * it expires; so do those that a host application gave.
 */
export type CarriedIdentity =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly id: string }
  | {
    readonly kind: 'token' | 'host'
    readonly principal?: string | undefined
    readonly scopes: 'all' | readonly string[]
    readonly address?: string | undefined
    readonly expires?: number | undefined
    readonly view?: string | undefined
    readonly claims?: Readonly<Record<string, unknown>> | undefined
  }

/** Carries identities to other nodes, and gives the live ones there. */
export interface IdentityCarrier {
  carry: (identity: Identity) => CarriedIdentity
  /**
   * The identity as this node knows it now; undefined when it does not know the credential, or not any more, or trusts
   * no such callers.
   */
  adopt: (carried: CarriedIdentity) => Identity | undefined
}

export const carryRights = (
  kind: 'token' | 'host',
  { principal, scopes, address, expires, view, claims }: Identity
): CarriedIdentity =>
  ({ kind, principal, scopes: scopes === 'all' ? 'all' : [...scopes], address, expires, view, claims })

/**
 * The identity of carried rights; undefined for a value of another shape, such as one of another version of this
 * program.
 */
export function rightsOf (carried: CarriedIdentity): Identity | undefined {
  if (carried.kind !== 'token' && carried.kind !== 'host') return undefined
  const { principal, scopes, address, expires, view, claims } = carried
  if (scopes !== 'all' && !Array.isArray(scopes)) return undefined
  return {
    principal,
    scopes: scopes === 'all' ? 'all' : new Set(scopes),
    ...(address !== undefined && { address }),
    expires,
    ...(view !== undefined && { view }),
    ...(isObject(claims) && { claims })
  }
}
