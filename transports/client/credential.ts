import type { IncomingHttpHeaders } from 'node:http'
import { readBearerChallenge, type BearerChallenge } from '../../protocol/http/challenge.js'

/** An access token for one server that is not in its configuration: a person has signed in, or a program has. */
export interface Credential {
  /** The token to send now; undefined when there is none. */
  readonly token: string | undefined
  /** When it was obtained by more than a renewal, in milliseconds since 1970; undefined when there is none. */
  readonly signedInAt: number | undefined
  /** Why there is no token, in words. */
  readonly absence: string
  /** The texts that are to be hidden wherever the server is written about. */
  readonly secrets: readonly string[]
  /** Reads the token anew from where it is stored: another process may have changed it. Never rejects. */
  load (): Promise<void>
  /**
   * Settles when there is another token to send the refused request with. Rejects with a `SignInRequired`, or with a
   * sentence that says why there is none now.
   */
  renew (refusal: AccessRefused): Promise<void>
}

/** A reply that asks for a credential, for another one, or for one with more scopes: the request was not run. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused'
  /** Not a member that a logger would write. */
  readonly #token: string | undefined

  constructor (
    message: string,
    readonly status: number,
    readonly challenge: BearerChallenge | undefined,
    token: string | undefined
  ) {
    super(message)
    this.#token = token
  }

  /** True when the refused request had this token, or none where it is undefined. */
  wasSentWith (token: string | undefined): boolean {
    return token === this.#token
  }
}

/** There is no token, or none that the server takes, until a person signs in. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired'
}

/** The header with the token, name and value; empty where there is none. */
export const bearerHeader = (credential: Credential | undefined): string[] =>
  credential?.token === undefined ? [] : ['authorization', `Bearer ${credential.token}`]

/**
 * The refusal that a status and its headers are; undefined for other replies, and where requests have no credential of
 * this kind. `token` is what the request had.
 */
export function refusalOf (
  credential: Credential | undefined,
  token: string | undefined,
  status: number,
  headers: IncomingHttpHeaders
): AccessRefused | undefined {
  if (credential === undefined || (status !== 401 && status !== 403)) return undefined
  const challenge = readBearerChallenge(headers['www-authenticate'])
  if (status === 401) return new AccessRefused('it answered with status 401', status, challenge, token)
  return challenge?.error === 'insufficient_scope'
    ? new AccessRefused('it answered with status 403 and asks for more scopes', status, challenge, token)
    : undefined
}
