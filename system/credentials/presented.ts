import type { RefusalReason } from './credential-error.js'

/** The headers of an HTTP request, parsed and raw. */
export interface Carrier { headers: Record<string, string | string[] | undefined>, rawHeaders: string[] }

/** The credential of a request: a key or token, a ticket, none, or something that is not one credential. */
export type Presented =
  | { credential: string }
  | { ticket: string }
  | { malformed: string }
  | { none: string | undefined, reason: RefusalReason }

const HEADERS = ['authorization', 'x-api-key']
/** Credentials in a URL end up in logs and histories, so they are refused. */
const NOT_IN_URLS = ['access_token', 'api_key', 'apikey', 'token']
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const SUBPROTOCOL = 'ticket.'

/** Finds the one credential of a request. A ticket counts only if `takesTickets`. */
export function readPresented (
  { headers, rawHeaders }: Carrier,
  query: Record<string, unknown>,
  takesTickets: boolean
): Presented {
  const inHeaders = rawHeaders.filter((name, index) => index % 2 === 0 && HEADERS.includes(name.toLowerCase())).length
  const inUrl = NOT_IN_URLS.some(name => query[name] !== undefined)
  const tickets = takesTickets ? [...ticketsIn(query), ...ticketsOffered(headers['sec-websocket-protocol'])] : []
  if (inHeaders + tickets.length + Number(inUrl) > 1) {
    return { malformed: 'there is more than one credential; send one' }
  }
  if (inUrl) {
    return {
      none: 'a credential in a URL does not count; send it in the Authorization header',
      reason: 'credential_in_url'
    }
  }
  if (tickets[0] !== undefined) return { ticket: tickets[0] }
  return inHeader(headers)
}

function inHeader ({ authorization, 'x-api-key': key }: Carrier['headers']): Presented {
  if (typeof key === 'string') return TOKEN.test(key) ? { credential: key } : { malformed: 'X-API-Key must be one key' }
  if (authorization === undefined) return { none: undefined, reason: 'no_credential' }
  const [, scheme = '', rest = ''] = /^([^ ]*) *(.*)$/.exec(String(authorization)) ?? []
  if (scheme.toLowerCase() !== 'bearer') {
    return { none: 'the Authorization header must begin with Bearer', reason: 'not_bearer' }
  }
  return TOKEN.test(rest)
    ? { credential: rest }
    : { malformed: 'the Authorization header must be "Bearer" and one token' }
}

function ticketsIn ({ ticket }: Record<string, unknown>): string[] {
  return ticket === undefined ? [] : [ticket].flat().map(String)
}

function ticketsOffered (protocols: string | string[] | undefined): string[] {
  if (protocols === undefined) return []
  return String(protocols)
    .split(',')
    .map(name => name.trim())
    .filter(name => name.startsWith(SUBPROTOCOL))
    .map(name => name.slice(SUBPROTOCOL.length))
}
