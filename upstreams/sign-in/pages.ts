import { createHash, timingSafeEqual } from 'node:crypto'
import { randomToken } from '../../lib/random-token.js'
import type { Values } from '../../protocol/store.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'
import { beginSignIn, finishSignIn, type Begun } from './flow.js'
import { SignInFailed } from './guarded-fetch.js'
import type { BegunInBrowser, LinkedSignIn } from './offer.js'
import { signInKey, type SignIns } from './sign-ins.js'

/** How long a link counts, and how long the browser may take to come back, in milliseconds. */
export const LINK_LIFETIME = 10 * 60_000

const USED = 'upstreams/sign-in-links'
const FLOWS = 'upstreams/sign-in-flows'
/** The most sign-ins that one caller begins within the lifetime of a link, and all callers together. */
const MAX_OWN = 10
const MAX_OPEN = 10_000

const HOST_PREFIX = '__Host-'
const LINK = 'sign-in link'
const USED_UP = 'this link was used already, or is too old; try again in your client, which gives you a new one'
const TOO_MANY = `you began ${MAX_OWN} sign-ins to this server within ${LINK_LIFETIME / 60_000} minutes; try again later`
const FOREIGN = 'this answer belongs to no sign-in that waits in this browser; try again in your client'

/** The content of a link: whose sign-in it is for. */
interface Link {
  readonly id: string
  readonly alias: string
  readonly key: string
  readonly principal: string | undefined
  readonly expires: number
}

interface Flow { readonly alias: string, readonly key: string, readonly cookie: string, readonly begun: Begun }

/**
 * Sign-ins of callers whose browser is on another machine than the gateway: it comes to a page of the gateway, and back
 * to another. A link counts for one caller and server, once; what it begins ends in the browser that opened it.
 */
export class BrowserSignIns {
  readonly #signIns: SignIns
  readonly #values: Values
  readonly #entryOf: (alias: string) => ServerEntry | undefined

  constructor (signIns: SignIns, values: Values, entryOf: (alias: string) => ServerEntry | undefined) {
    this.#signIns = signIns
    this.#values = values
    this.#entryOf = entryOf
  }

  /** A link for one caller; its page is where the browser comes back to, without the last part. */
  link (entry: ServerEntry, owner: string, principal: string | undefined, redirectUri: string): string {
    const content: Link = {
      id: randomToken(16, 'base64url'),
      alias: entry.alias,
      key: signInKey(entry, owner),
      principal,
      expires: Date.now() + LINK_LIFETIME
    }
    const url = new URL(redirectUri.slice(0, redirectUri.lastIndexOf('/')))
    url.searchParams.set('link', this.#signIns.seal(LINK, content))
    return url.href
  }

  /** The sign-in that a link is for. Throws in words where the link does not count. */
  async read (link: string): Promise<LinkedSignIn> {
    const { id, alias, key, principal } = this.#open(link)
    if (await this.#values.get(USED, usedName(key, id)) !== undefined) throw new SignInFailed(USED_UP)
    return { alias, principal }
  }

  /** Uses a link, and begins its sign-in; the cookie is for the browser that opened it. Throws in words. */
  async begin (link: string, redirectUri: string, signal: AbortSignal): Promise<BegunInBrowser> {
    const { id, alias, key, expires } = this.#open(link)
    const [used, holder] = [usedName(key, id), randomToken(12, 'base64url')]
    await this.#checkShare(key)
    await this.#values.put(USED, used, holder, { ifAbsent: true, expires, max: MAX_OPEN })
    if (await this.#values.get(USED, used) !== holder) throw new SignInFailed(USED_UP)
    const entry = this.#serverOf(alias, key)
    const [state, cookie] = [randomToken(32, 'base64url'), randomToken(32, 'base64url')]
    const begun = await beginSignIn(entry, this.#signIns, key, { redirectUri, state }, signal)
    const flow: Flow = { alias, key, cookie: hashOf(cookie), begun }
    const name = hashOf(state)
    await this.#values.put(FLOWS, name, { sealed: this.#signIns.seal(purposeOf(name), flow) }, {
      expires: Date.now() + LINK_LIFETIME,
      max: MAX_OPEN
    })
    return { url: begun.url, cookie: { name: cookieNameOf(state, redirectUri), value: cookie } }
  }

  /** Ends a sign-in with what the browser brought: once, and in the browser that began it. Throws in words. */
  async finish (
    answer: URLSearchParams,
    cookieOf: (name: string) => string | undefined,
    signal: AbortSignal
  ): Promise<LinkedSignIn> {
    const state = answer.get('state') ?? ''
    const name = hashOf(state)
    const flow = this.#readFlow(name, await this.#values.get(FLOWS, name))
    if (flow === undefined || !isSame(hashOf(cookieOf(cookieNameOf(state, flow.begun.redirectUri)) ?? ''), flow.cookie)) {
      throw new SignInFailed(FOREIGN)
    }
    // Of two that bring the same answer, one gets it.
    if (await this.#values.take(FLOWS, name) === undefined) throw new SignInFailed(FOREIGN)
    const { alias, key, begun } = flow
    const { isTaken } = await finishSignIn(this.#serverOf(alias, key), this.#signIns, key, begun, answer, signal)
    if (!isTaken) throw new SignInFailed('the server does not accept the token that it was asked for')
    return { alias, principal: undefined }
  }

  /** One caller must not take the room of the others. */
  async #checkShare (key: string): Promise<void> {
    const prefix = usedName(key, '')
    const used = await this.#values.keys(USED, { after: prefix, limit: MAX_OWN })
    if (used.length === MAX_OWN && used.every(name => name.startsWith(prefix))) throw new SignInFailed(TOO_MANY)
  }

  #open (link: string): Link {
    const content = this.#signIns.open(LINK, link)
    if (!isObject(content) || Number(content['expires']) < Date.now()) throw new SignInFailed(USED_UP)
    return content as unknown as Link
  }

  /** The server as it is configured now; one with another address is another server. */
  #serverOf (alias: string, key: string): ServerEntry {
    const entry = this.#entryOf(alias)
    const server = entry === undefined ? undefined : signInKey(entry, '')
    if (entry === undefined || server === undefined || !key.startsWith(server)) {
      throw new SignInFailed(`the server ${alias} is not configured any more as it was`)
    }
    return entry
  }

  #readFlow (name: string, stored: unknown): Flow | undefined {
    if (!isObject(stored) || typeof stored['sealed'] !== 'string') return undefined
    const flow = this.#signIns.open(purposeOf(name), stored['sealed'])
    return isObject(flow) ? flow as unknown as Flow : undefined
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

const usedName = (key: string, id: string): string => `${hashOf(key)}/${id}`

const purposeOf = (name: string): string => `sign-in flow ${name}`

/** Two sign-ins in one browser have a cookie each. Over https, no other host of the domain can set one so called. */
const cookieNameOf = (state: string, redirectUri: string): string =>
  `${redirectUri.startsWith('https:') ? HOST_PREFIX : ''}patchbay-sign-in-${hashOf(state).slice(0, 12)}`
