import type { ServerEntry } from '../server-entry.js'

/** The sign-in of a caller that a page of the gateway is about. */
export interface LinkedSignIn {
  readonly alias: string
  /** The caller who asked for it; undefined for one without a name. */
  readonly principal: string | undefined
}

/** A sign-in that was begun: the address to go to, and a cookie that its end asks for. */
export interface BegunInBrowser {
  readonly url: string
  readonly cookie: { readonly name: string, readonly value: string }
}

/** The way to a sign-in for one caller. */
export interface Offer {
  readonly url: string
  /** Settles when the sign-in is stored; rejects in words when it will not be, or the signal aborts. */
  readonly signedIn: (signal: AbortSignal) => Promise<void>
}

/** A caller, as far as it matters for a sign-in. */
export interface SigningCaller {
  readonly owner: string
  readonly principal: string | undefined
  /** True where the caller's browser is on this machine. */
  readonly isHere: boolean
}

/** The pages where callers sign in to servers. All reject in words that may be shown. */
export interface SignInPages {
  /** The way to a sign-in for this caller; undefined where its browser could not come back. */
  readonly offer: (entry: ServerEntry, caller: SigningCaller) => Promise<Offer | undefined>
  readonly read: (link: string) => Promise<LinkedSignIn>
  readonly begin: (link: string) => Promise<BegunInBrowser & { readonly redirectUri: string }>
  readonly finish: (answer: URLSearchParams, cookieOf: (name: string) => string | undefined) => Promise<LinkedSignIn>
}

/** The parts of the gateway that the pages need. */
export interface PageHost {
  /** The server of that name, as it is configured now. */
  readonly entryOf: (alias: string) => ServerEntry | undefined
  /** Where browsers reach the gateway, if that is configured: the URL that `/sign-in` follows. */
  readonly publicUrl: string | undefined
  /** Aborts when the gateway closes. */
  readonly closing: AbortSignal
}
