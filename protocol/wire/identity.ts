import { isObject } from './json.js'

/** The scopes of a caller; `all` where no credential is needed. */
export type Granted = 'all' | ReadonlySet<string>

/** A caller, as far as it is known. */
export interface Identity {
  /** The name of the caller, always the same for the same caller; undefined for an anonymous one. */
  readonly principal: string | undefined
  readonly scopes: Granted
  /** The network address of an anonymous caller. */
  readonly address?: string
  /** When the credential expires, in milliseconds since 1970. */
  readonly expires?: number | undefined
  /** The view that the credential is bound to: the caller sees nothing else. */
  readonly view?: string | undefined
  /**
   * The claims of a token that rules name, null for one that it lacks. A claim that is not here was not read yet.
   * Undefined for callers without a token.
   */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** An anonymous caller where no credential is needed: it has all scopes. */
export const ANONYMOUS_ALL_SCOPES: Identity = { principal: undefined, scopes: 'all' }

/** A caller without a credential where one is needed: it has no scopes. */
export const UNAUTHENTICATED: Identity = { principal: undefined, scopes: new Set() }

/** True for a caller without the credential it needs. */
export const isUnauthenticated = ({ principal, scopes }: Identity): boolean =>
  principal === undefined && scopes !== 'all'

/** The scopes that everything without scopes of its own needs. */
export const DEFAULT_SCOPES: readonly string[] = ['mcp']

/** The scope that grants everything. */
export const ADMIN_SCOPE = 'admin'

/** The scope that `/metrics` needs. */
export const METRICS_SCOPE = 'metrics'

/**
 * True when all of the scopes are granted: each by its own name, by a broader one (`notes` for `notes:write`), or by
 * `admin`. All scopes of a caller that is bound to a view are those of what is in it: not what operators alone have.
 */
export function grants ({ scopes, view }: Identity, needed: readonly string[]): boolean {
  if (scopes === 'all') return view === undefined || !needed.some(isForOperators)
  return scopes.has(ADMIN_SCOPE) || needed.every(scope => grantingScopes(scope).some(name => scopes.has(name)))
}

const isForOperators = (scope: string): boolean => scope === ADMIN_SCOPE || scope === METRICS_SCOPE

/** True for a caller who has every scope there is. */
export const hasAllScopes = ({ scopes, view }: Identity): boolean => scopes === 'all' && view === undefined

/** True where clients of a view may know of what was made in that one: there, and outside of all views. */
export const mayReach = (view: string | undefined, madeIn: string | undefined): boolean =>
  view === undefined || view === madeIn

/** The principal for people: the name of an API key without its prefix, any other as it is. */
export const shortName = (principal: string): string => principal.startsWith('key:') ? principal.slice(4) : principal

/** The shape of an identity, for the messages about one that has another. */
export const IDENTITY_SHAPE =
  '{ principal: string | undefined, scopes: "all" | Set<string>, expires?: milliseconds since 1970, view?: string, claims?: object }'

/** True for a value of the shape of an identity: a host application may set anything. */
export function isIdentity (value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null) return false
  const { principal, scopes, address, expires, view, claims }: { [name in keyof Identity]?: unknown } = value
  return (scopes === 'all' || typeof Object(scopes).has === 'function') &&
    (principal === undefined || typeof principal === 'string') &&
    (address === undefined || typeof address === 'string') &&
    (view === undefined || typeof view === 'string') &&
    (claims === undefined || isObject(claims)) &&
    (expires === undefined || (typeof expires === 'number' && !Number.isNaN(expires)))
}

export const hasExpired = ({ expires }: Identity): boolean => expires !== undefined && expires <= Date.now()

/** The scopes that grant this one: itself, and the part before each of its colons. */
export function grantingScopes (scope: string): string[] {
  const parts = scope.split(':')
  return parts.map((_part, index) => parts.slice(0, index + 1).join(':'))
}
