import { readTab, writeTab } from './tab-storage.js'

/** A login that is under way at the authorization server: what the page must still know when the browser comes back. */
export interface Pending {
  issuer: string
  resource: string
  clientId: string
  redirectUri: string
  state: string
  /** Proves that the code is used by the page that asked for it (PKCE). */
  verifier: string
  /** The view that was open. */
  hash: string
}

/** The answer of the authorization server, and the login that it is for. */
export interface Returned { pending: Pending | undefined, parameters: URLSearchParams }

interface Page {
  location: { search: string, pathname: string, hash: string }
  history: { replaceState: (state: null, title: string, url: string) => void }
}

const NAME = 'patchbay-login'

export const rememberLogin = (pending: Pending): void => { writeTab(NAME, JSON.stringify(pending)) }

/**
 * Takes the answer of an authorization server out of the URL, so that it is used once, and opens the view that was open
 * before. Undefined if there is none.
 */
export function takeReturned (page = globalThis as unknown as Partial<Page>): Returned | undefined {
  const { location, history } = page
  const parameters = new URLSearchParams(location?.search ?? '')
  if (location === undefined || history === undefined || !(parameters.has('code') || parameters.has('error'))) {
    return undefined
  }
  const pending = parse(readTab(NAME))
  writeTab(NAME, undefined)
  history.replaceState(null, '', location.pathname + (pending?.hash ?? location.hash))
  return { pending, parameters }
}

function parse (text: string | undefined): Pending | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text) as Pending
  } catch {
    return undefined
  }
}
