import type { ServerEntry } from '../server-entry.js'
import { SignInFailed } from './guarded-fetch.js'
import { LINK_LIFETIME } from './pages.js'
import { signIn } from './sign-in.js'
import { signInKey, type SignIns } from './sign-ins.js'

/** The most sign-ins that wait for a browser at a time; each has a port. */
const MAX_WAITING = 16

interface Waiting { readonly url: Promise<string>, readonly done: Promise<unknown> }

/** Sign-ins of callers whose browser is on the machine of the gateway: it comes back to a port of 127.0.0.1. */
export class LocalSignIns {
  readonly #signIns: SignIns
  readonly #closing: AbortSignal
  readonly #waiting = new Map<string, Waiting>()

  /** `closing` aborts when the gateway closes. */
  constructor (signIns: SignIns, closing: AbortSignal) {
    this.#signIns = signIns
    this.#closing = closing
  }

  /**
   * The address to sign in at, the same while one is waited for; `failed` rejects in words when it will not come to an
   * end. Rejects in words.
   */
  async begin (entry: ServerEntry, owner: string): Promise<{ url: string, failed: Promise<never> }> {
    const key = signInKey(entry, owner)
    const { url, done } = this.#waiting.get(key) ?? this.#start(key, entry, owner)
    const failed = done.then(async () => await new Promise<never>(() => {}))
    failed.catch(() => {})
    return { url: await url, failed }
  }

  #start (key: string, entry: ServerEntry, owner: string): Waiting {
    if (this.#waiting.size >= MAX_WAITING) throw new SignInFailed('too many sign-ins are waited for; finish one first')
    let show = (_url: string): void => {}
    const shown = new Promise<string>(resolve => { show = resolve })
    const done = signIn(entry, this.#signIns, {
      show,
      tell: () => {},
      pasted: nothing(),
      signal: AbortSignal.any([this.#closing, AbortSignal.timeout(LINK_LIFETIME)])
    }, owner).finally(() => { this.#waiting.delete(key) })
    const url = Promise.race([shown, done.then(() => '')])
    url.catch(() => {})
    const waiting = { url, done }
    this.#waiting.set(key, waiting)
    return waiting
  }
}

async function * nothing (): AsyncGenerator<string> {}
