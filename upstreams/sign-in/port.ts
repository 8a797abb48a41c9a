import type { Values } from '../../protocol/store.js'
import type { ServerEntry } from '../server-entry.js'
import type { PageHost, SignInPages } from './offer.js'
import type { SignIns } from './sign-ins.js'
import type { Person, SignedIn, SignInState } from './person.js'
import { whyNotStored, type SealingOptions } from './storable.js'

/** Lets commands sign persons in and out. Its code is loaded when it is used. */
export interface SignInPort {
  /** Has sign-ins read from another store than that of the gateway, and renewed there. */
  use: (values: Values, options: SealingOptions) => void
  /** The sign-ins; undefined where none can be stored. */
  stored: () => Promise<SignIns | undefined>
  /** Says why sign-ins cannot be stored here, and what to do; undefined where they can. */
  whyNot: () => string | undefined
  /** The sign-ins of servers; those without one are asked whether they want one. Never rejects. */
  states: (entries: readonly ServerEntry[], signal: AbortSignal) => Promise<SignInState[]>
  /** Signs a person in, for all callers or one owner, and stores it. Rejects in words; nothing is stored then. */
  signIn: (entry: ServerEntry, person: Person, owner?: string) => Promise<SignedIn>
  /** The pages where callers sign in; undefined where sign-ins cannot be stored. */
  pages: () => Promise<SignInPages | undefined>
  /**
   * Removes the sign-ins under an alias, or one owner's alone, and takes the tokens back where the authorization server
   * can. The issuers, and why tokens could not be taken back.
   */
  signOut: (
    alias: string,
    entry: ServerEntry | undefined,
    owner?: string
  ) => Promise<{ issuers: string[], notRevoked: string[] }>
}

export function createSignInPort (values: Values, options: SealingOptions, host: PageHost): SignInPort {
  let source = { values, options }
  let pages: Promise<SignInPages> | undefined
  const open = async (): Promise<SignIns> => {
    const why = whyNotStored(source.options)
    if (why !== undefined) throw new Error(why)
    return new (await import('./sign-ins.js')).SignIns(source.values, source.options)
  }
  return {
    use: (values, options) => {
      source = { values, options }
    },
    stored: async () => whyNotStored(source.options) === undefined ? await open() : undefined,
    whyNot: () => whyNotStored(source.options),
    states: async (entries, signal) => (await import('./states.js')).statesOf(entries, await open(), signal),
    signIn: async (entry, person, owner) => (await import('./sign-in.js')).signIn(entry, await open(), person, owner),
    pages: async () => {
      if (whyNotStored(source.options) !== undefined) return undefined
      return await (pages ??= open().then(async signIns =>
        (await import('./open-pages.js')).openPages(signIns, source.values, host)))
    },
    signOut: async (alias, entry, owner) => (await import('./states.js')).signOut(alias, entry, await open(), owner)
  }
}
