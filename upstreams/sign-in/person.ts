/** The person who signs in, as the flow sees them. */
export interface Person {
  /** Shows the address to sign in at, and opens it where that can be done. */
  show: (url: string) => void
  /** Tells what happens meanwhile, in a sentence. */
  tell: (sentence: string) => void
  /** Texts that the person pastes: the address that the browser was sent to, or the code in it. */
  pasted: AsyncIterable<string>
  signal: AbortSignal
}

/** The outcome of a sign-in, without its secrets. */
export interface SignedIn { readonly issuer: string, readonly scopes: readonly string[], readonly isRenewable: boolean }

/** The sign-in of one server, without its secrets. */
export interface SignInState {
  readonly alias: string
  readonly state: 'signed in' | 'needs sign-in' | 'needs none' | 'unknown'
  /** Why it is so, where that is not plain. */
  readonly why?: string
  readonly issuer?: string
  readonly scopes?: readonly string[]
  /** When the access token expires, in milliseconds since 1970; it is renewed by itself where that `isRenewable`. */
  readonly expiresAt?: number
  readonly isRenewable?: boolean
  /** How many callers have signed in, where each has a sign-in of its own. */
  readonly callers?: number
}
