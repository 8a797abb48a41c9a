import type { Identity } from './identity.js'

/** An identity as JSON, for another node. */
export interface CarriedIdentity extends Omit<Identity, 'scopes'> { readonly scopes: 'all' | readonly string[] }

export const carryIdentity = ({ scopes, ...identity }: Identity): CarriedIdentity => ({ ...identity, scopes: scopes === 'all' ? 'all' : [...scopes] })

export const takeIdentity = ({ scopes, ...identity }: CarriedIdentity): Identity => ({ ...identity, scopes: scopes === 'all' ? 'all' : new Set(scopes) })
