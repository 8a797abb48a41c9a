import type { IncomingHttpHeaders } from 'node:http'
import { refusalOf, type Credential } from '../credential.js'

/**
 * Says in words what an HTTP error status means for the operator. The body of the reply stays out: it is the
 * upstream's.
 */
export function describeStatus (
  status: number,
  { 'retry-after': retryAfter }: IncomingHttpHeaders,
  hasAuthorization: boolean
): string {
  const answer = `it answered with status ${status}`
  if (status === 401) {
    return hasAuthorization
      ? `${answer}: it does not accept the credential in the header Authorization; correct it in "headers" of this server`
      : `${answer}: it needs a credential; sign in with patchbay login, or set the header Authorization in "headers" of this server`
  }
  if (status === 403) {
    return `${answer}: the credential does not permit this; see what "headers" of this server must have`
  }
  if (status === 404) return `${answer}: there is nothing at this URL; correct "url" of this server`
  if (status === 429 || status === 503) return `${answer}: it is overloaded; try again ${later(retryAfter)}`
  if (status === 405 || status < 300) return `${answer}; see that "url" of this server is that of its MCP endpoint`
  return status >= 500 ? `${answer}: it failed; look at its log` : answer
}

/** How a request was authorized: by configured headers, names and values in turn, or by a token. */
export interface Authorized {
  readonly headers: string[]
  readonly credential?: Credential | undefined
  readonly token?: string | undefined
}

/** The error for a reply with an HTTP error status: an `AccessRefused` where another token may help. */
export const statusError = (
  status: number,
  headers: IncomingHttpHeaders,
  { headers: configured, credential, token }: Authorized
): Error =>
  refusalOf(credential, token, status, headers) ??
  new Error(describeStatus(status, headers, hasAuthorization(configured)))

/** True when headers, names and values in turn, have a credential. */
const hasAuthorization = (headers: string[]): boolean =>
  headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === 'authorization')

/** Only a number is repeated: the rest of a header is the upstream's text. */
const later = (retryAfter: string | undefined): string =>
  retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? `in ${retryAfter} s` : 'later'
