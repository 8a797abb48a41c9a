import type { Values } from '../../protocol/store.js'
import type { ServerEntry } from '../server-entry.js'
import { SignInFailed } from './guarded-fetch.js'
import { LocalSignIns } from './local-sign-ins.js'
import { BrowserSignIns, LINK_LIFETIME } from './pages.js'
import type { PageHost, SignInPages } from './offer.js'
import { signInKey, type SignIns } from './sign-ins.js'

/** How long the servers that a sign-in begins and ends with may take in all, in milliseconds. */
const TIMEOUT = 60_000
const LATE = `no sign-in came within ${LINK_LIFETIME / 60_000} minutes`

/** Opens the pages where callers sign in, over these sign-ins. */
export function openPages (signIns: SignIns, values: Values, { entryOf, publicUrl, closing }: PageHost): SignInPages {
  const browsers = new BrowserSignIns(signIns, values, entryOf)
  const local = new LocalSignIns(signIns, closing)
  const limited = (): AbortSignal => AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT)])
  const redirectUriOf = ({ oauth }: ServerEntry): string | undefined =>
    oauth?.redirectUri ?? (publicUrl === undefined ? undefined : `${publicUrl}/sign-in/callback`)

  return {
    offer: async (entry, { owner, principal, isHere }) => {
      const key = signInKey(entry, owner)
      const before = (await signIns.load(key))?.signedInAt
      const wait = async (signal: AbortSignal): Promise<void> => await stored(signIns, key, before, signal)
      if (isHere) {
        const { url, failed } = await local.begin(entry, owner)
        return { url, signedIn: async signal => await Promise.race([wait(signal), failed]) }
      }
      const redirectUri = redirectUriOf(entry)
      if (redirectUri === undefined) return undefined
      return { url: browsers.link(entry, owner, principal, redirectUri), signedIn: wait }
    },
    read: async link => await browsers.read(link),
    begin: async link => {
      const { alias } = await browsers.read(link)
      const entry = entryOf(alias)
      const redirectUri = entry === undefined ? undefined : redirectUriOf(entry)
      if (redirectUri === undefined) throw new SignInFailed(`the server ${alias} is not configured any more as it was`)
      return { ...await browsers.begin(link, redirectUri, limited()), redirectUri }
    },
    finish: async (answer, cookieOf) => await browsers.finish(answer, cookieOf, limited())
  }
}

/** Settles when another sign-in is stored than the one `before`. */
async function stored (
  signIns: SignIns,
  key: string,
  before: number | undefined,
  caller: AbortSignal
): Promise<void> {
  const late = AbortSignal.timeout(LINK_LIFETIME)
  const signal = AbortSignal.any([caller, late])
  let off = (): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        signIns.load(key).then(found => {
          if (found?.accessToken !== undefined && found.signedInAt !== before) resolve()
        }, () => {})
      }
      off = signIns.onChange(changed => {
        if (changed === undefined || changed === key) look()
      })
      signal.addEventListener('abort', () => reject(late.aborted ? new SignInFailed(LATE) : signal.reason), { once: true })
      if (signal.aborted) reject(signal.reason)
      // It may have been stored meanwhile.
      look()
    })
  } finally {
    off()
  }
}
