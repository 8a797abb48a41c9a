import * as oauth from 'oauth4webapi'
import type { ServerEntry } from '../server-entry.js'
import { beginSignIn, finishSignIn } from './flow.js'
import type { Person, SignedIn } from './person.js'
import { openRedirectListener, type RedirectListener } from './redirect-listener.js'
import { SHARED, signInKey, type SignIns } from './sign-ins.js'
import { targetOf } from './target.js'

const TAKEN = 'The answer was received. You can close this page and go back.'

/**
 * Signs a person in to a server whose browser comes back to this machine, and stores the tokens. Throws in words.
 * Nothing is stored before the tokens are.
 */
export async function signIn (
  entry: ServerEntry,
  signIns: SignIns,
  person: Person,
  owner = SHARED
): Promise<SignedIn> {
  // A server that takes no sign-in needs no port.
  await targetOf(entry)
  const key = signInKey(entry, owner)
  const { signal } = person
  const state = oauth.generateRandomState()
  const listener = await openRedirectListener(entry.oauth?.callbackPort)
  try {
    const begun = await beginSignIn(entry, signIns, key, { redirectUri: listener.redirectUri, state }, signal)
    const answer = await answerTo(begun.url, state, listener, person, begun.server)
    const { isTaken, ...signedIn } = await finishSignIn(entry, signIns, key, begun, answer, signal)
    if (!isTaken) person.tell('the server does not accept the token that it was asked for')
    return signedIn
  } finally {
    listener.close()
  }
}

/** The parameters that the browser brought back, or that were pasted. */
async function answerTo (
  url: string,
  state: string,
  listener: RedirectListener,
  person: Person,
  server: oauth.AuthorizationServer
): Promise<URLSearchParams> {
  const { signal } = person
  return await new Promise<URLSearchParams>((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    listener.listen(state, parameters => {
      resolve(parameters)
      return parameters.has('code') ? TAKEN : 'The sign-in was refused.'
    }, () => person.tell('an answer with another state than that of this sign-in was refused'))
    void readPasted(person, state, server, resolve)
    person.show(url)
  })
}

/** Takes the first text that can be an answer. A code alone has no state and issuer: PKCE binds it to this sign-in. */
async function readPasted (
  { pasted, tell }: Person,
  state: string,
  server: oauth.AuthorizationServer,
  take: (parameters: URLSearchParams) => void
): Promise<void> {
  for await (const line of pasted) {
    const text = line.trim()
    if (text === '') continue
    const query = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams(text.replace(/^\?/, ''))
    if (query.has('code') || query.has('error')) {
      if (query.get('state') === state) return take(query)
      tell('the address that was pasted has another state than that of this sign-in, and was refused')
    } else if (server.authorization_response_iss_parameter_supported === true || /\s/.test(text) || URL.canParse(text)) {
      tell('paste the whole address that the browser was sent to')
    } else return take(new URLSearchParams({ code: text, state }))
  }
}
