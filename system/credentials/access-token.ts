import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import type { Holder } from './api-key.js'
import { CredentialRefused, CredentialUnknowable, type RefusalReason } from './credential-error.js'

/** The issuer whose tokens are accepted, the audiences they must be for, and the signature algorithms. */
export interface Trust {
  issuer: string
  audience: string[]
  algorithms: string[]
  /** The claim that names the view a token is bound to; `scope` for scopes such as `view:release`. */
  viewClaim?: string | undefined
}

const MAX_KNOWN = 10_000
const KNOWN_FOR = 5 * 60_000
/** How many seconds the issuer's clock may be ahead of ours. */
const LEEWAY = 30
const MAX_SUBJECT = 1_024
/** How many characters of a claim are logged. */
const MAX_LOGGED = 256
const VIEW_SCOPE = 'view:'
const TYPES = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])

/**
 * Verifies access tokens that are signed JWTs. A valid one is cached by its digest for some minutes, never beyond its
 * expiry.
 */
export class AccessTokens {
  readonly #trust: Trust
  readonly #keys: JWTVerifyGetKey
  readonly #now: () => number
  readonly #known = new Map<string, { holder: Holder, until: number }>()
  readonly #pending = new Map<string, Promise<Holder>>()
  readonly #holders = new WeakSet<object>()
  #claims: readonly string[] = []

  constructor (trust: Trust, keys: JWTVerifyGetKey, now: () => number = Date.now) {
    this.#trust = trust
    this.#keys = keys
    this.#now = now
  }

  /**
   * The holder of a token. Rejects with `CredentialRefused`, or `CredentialUnknowable` if it cannot be verified now.
   */
  verify (token: string, digest: Buffer): Holder | Promise<Holder> {
    const key = digest.toString('base64')
    const known = this.#known.get(key)
    if (known !== undefined && known.until > this.#now()) return known.holder
    const pending = this.#pending.get(key) ?? this.#learn(token, key)
    this.#pending.set(key, pending)
    return pending
  }

  /** True for an identity that a token gave here. */
  isHolder (identity: object): boolean {
    return this.#holders.has(identity)
  }

  /** True for a principal that tokens of the trusted issuer name. */
  isOfIssuer (principal: string): boolean {
    const { issuer } = this.#trust
    return principal.startsWith(`${issuer}#`) || principal.startsWith(`${issuer}?client=`)
  }

  /** Reads these claims of tokens from now on. */
  readClaims (names: readonly string[]): void {
    if (names.every(name => this.#claims.includes(name))) return
    this.#claims = names
    this.#known.clear()
  }

  async #learn (token: string, key: string): Promise<Holder> {
    try {
      const holder = await this.#check(token)
      this.#remember(key, holder)
      this.#holders.add(holder)
      return holder
    } finally {
      this.#pending.delete(key)
    }
  }

  #remember (key: string, holder: Holder): void {
    this.#known.delete(key)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    this.#known.set(key, { holder, until: Math.min(this.#now() + KNOWN_FOR, holder.expires ?? 0) })
  }

  async #check (token: string): Promise<Holder> {
    const { viewClaim, ...checked } = this.#trust
    try {
      const { payload, protectedHeader: { typ } } = await jwtVerify(token, this.#keys, {
        ...checked, requiredClaims: ['exp'], clockTolerance: LEEWAY, currentDate: new Date(this.#now())
      })
      if (!TYPES.has(typ?.toLowerCase())) throw new Error('typ is not that of an access token')
      return {
        ...holderOf(payload, this.#trust.issuer, this.#now()),
        ...viewIn(payload, viewClaim),
        claims: claimsIn(payload, this.#claims)
      }
    } catch (error) {
      throw refusalOf(error as Error, this.#trust)
    }
  }
}

function holderOf ({ sub, client_id: id, azp, exp, scope, scp }: JWTPayload, issuer: string, now: number): Holder {
  const expires = Number(exp) * 1_000
  // The leeway is for tokens that are not valid yet, not for those that have expired.
  if (!Number.isFinite(expires) || expires <= now) throw new errors.JWTExpired('exp has passed', {})
  return { principal: principalOf(issuer, sub, id ?? azp), scopes: new Set(namesIn(scope ?? scp)), expires }
}

/** The view that a token is bound to. Throws where that is not one: the token would show everything. */
function viewIn (payload: JWTPayload, claim: string | undefined): { view?: string } {
  const named = claim === undefined ? undefined : viewsIn(payload, claim)
  if (named === undefined) return {}
  const [view, ...more] = named
  if (typeof view !== 'string' || more.length > 0) throw new Error('it is not bound to one view')
  return { view }
}

/** The values by which a token is bound; undefined where nothing says that it is. */
function viewsIn (payload: JWTPayload, claim: string): unknown[] | undefined {
  if (claim !== 'scope') return Object.hasOwn(payload, claim) ? [payload[claim]].flat() : undefined
  const scopes = namesIn(payload.scope ?? payload.scp).filter(scope => scope.startsWith(VIEW_SCOPE))
  return scopes.length === 0 ? undefined : scopes.map(scope => scope.slice(VIEW_SCOPE.length))
}

const claimsIn = (payload: JWTPayload, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map(name => [name, Object.hasOwn(payload, name) ? payload[name] : null]))

/** Unique, because an issuer contains neither ? nor #. */
function principalOf (issuer: string, subject: unknown, client: unknown): string {
  const name = subject ?? client
  if (typeof name !== 'string' || name === '' || name.length > MAX_SUBJECT || /[\p{Cc}\p{Surrogate}]/u.test(name)) {
    throw new Error('there is no usable sub, client_id or azp')
  }
  return subject === undefined || subject === null ? `${issuer}?client=${name}` : `${issuer}#${name}`
}

function namesIn (scope: unknown): string[] {
  if (Array.isArray(scope)) return scope.filter(name => typeof name === 'string')
  return typeof scope === 'string' ? scope.split(' ').filter(name => name !== '') : []
}

function refusalOf (error: Error, trust: Trust): Error {
  if (error instanceof CredentialUnknowable) return error
  const message =
    error instanceof errors.JWTExpired ? 'the access token has expired' : 'the access token is not valid here'
  const [reason, detail] = reasonOf(error, trust)
  return new CredentialRefused(message, reason, { cause: error, detail })
}

function reasonOf (error: Error, { issuer, audience }: Trust): [reason: RefusalReason, detail?: string] {
  if (error instanceof errors.JWTExpired) return ['expired_token']
  if (error instanceof errors.JWSSignatureVerificationFailed) return ['wrong_signature']
  if (error instanceof errors.JWKSNoMatchingKey) return ['unknown_signing_key']
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return ['unknown_credential', 'it is neither a listed key nor a signed token']
  }
  if (!(error instanceof errors.JWTClaimValidationFailed)) return ['invalid_token', error.message]
  // Claims are checked after the signature, so they are the issuer's own.
  const { claim, payload } = error
  if (claim === 'aud') return ['wrong_audience', `wanted ${audience.join(' or ')}, given ${toLogText(payload.aud)}`]
  if (claim === 'iss') return ['wrong_issuer', `wanted ${issuer}, given ${toLogText(payload.iss)}`]
  return ['invalid_token', error.message]
}

/** A claim for the log, without control characters that a terminal might interpret. */
function toLogText (claim: unknown): string {
  return claim === undefined
    ? 'none'
    : [claim]
        .flat()
        .map(String)
        .join(' and ')
        .slice(0, MAX_LOGGED)
        .replace(/[\p{C}\u2028\u2029]/gu, '?')
}
