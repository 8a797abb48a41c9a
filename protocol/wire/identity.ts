/** What somebody was granted; `all` where nobody has to say who they are. */
export type Granted = 'all' | ReadonlySet<string>

/** Who is asking, and what for. */
export interface Identity {
  /** The same for the same caller at all times; undefined when nobody had to say. */
  readonly principal: string | undefined
  readonly scopes: Granted
  /** Where they came from over the network, when nobody had to say. */
  readonly address?: string
  /** When this stops being true, in milliseconds since 1970. */
  readonly expires?: number | undefined
}

/** Where nobody has to say who they are, everybody may do everything. */
export const ANONYMOUS_ALL_SCOPES: Identity = { principal: undefined, scopes: 'all' }

/** Somebody who has not said who they are where one has to: they may do nothing. */
export const UNAUTHENTICATED: Identity = { principal: undefined, scopes: new Set() }

/** True for those who have to say who they are, and have not. */
export const isUnauthenticated = ({ principal, scopes }: Identity): boolean => principal === undefined && scopes !== 'all'

/** What is needed for everything that asks for nothing in particular. */
export const DEFAULT_SCOPES: readonly string[] = ['mcp']

/** The scope that grants everything. */
export const ADMIN_SCOPE = 'admin'

/** True when all of the scopes are granted: each by its own name, by a broader one (`notes` for `notes:write`), or by `admin`. */
export function grants ({ scopes }: Identity, needed: readonly string[]): boolean {
  return scopes === 'all' || scopes.has(ADMIN_SCOPE) || needed.every(scope => grantingScopes(scope).some(name => scopes.has(name)))
}

/** True for a value of the shape of an identity: a host application may set anything. */
export function isIdentity (value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null) return false
  const { principal, scopes, address, expires }: { [name in keyof Identity]?: unknown } = value
  return (scopes === 'all' || typeof Object(scopes).has === 'function') &&
    (principal === undefined || typeof principal === 'string') &&
    (address === undefined || typeof address === 'string') &&
    (expires === undefined || (typeof expires === 'number' && !Number.isNaN(expires)))
}

export const hasExpired = ({ expires }: Identity): boolean => expires !== undefined && expires <= Date.now()

/** The scopes that grant this one by their name: itself, and what stands before each of its colons. */
export function grantingScopes (scope: string): string[] {
  const parts = scope.split(':')
  return parts.map((_part, index) => parts.slice(0, index + 1).join(':'))
}
