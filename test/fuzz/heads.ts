import { mirroredHead } from '../support/http-requests.js'
import { request } from '../support/http-client.js'
import type { Opening, Head } from './case.js'
import { eraOf, startsWithHandshake } from './openings.js'

/** The request a good client makes of a body. */
export function defaultHead (opening: Opening, body: Buffer): Head {
  const path = opening === 'message' ? '/message' : opening === 'sse' ? '{{endpoint}}' : '/mcp'
  const headers: Head['headers'] = [
    ['host', '127.0.0.1'],
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream']
  ]
  if (startsWithHandshake(opening)) headers.push(['mcp-session-id', '{{session}}'])
  if (eraOf(opening) === 'modern') {
    headers.push(...mirroredHead(body).map(([name, value]): [string, string] => [name.toLowerCase(), printable(value)]))
  }
  return { method: 'POST', path, headers }
}

/** The bytes of a request. A head with a length or framing of its own is left as it is. */
export function rawRequest ({ method, path, headers }: Head, body: Buffer): Buffer {
  const framed = headers.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
  const bodiless = body.length === 0 && method !== 'POST'
  const bytes = request(method, path, headers, framed || bodiless ? undefined : body)
  return framed ? Buffer.concat([bytes, body]) : bytes
}

// What a header cannot hold would be a header of its own, the end of the head, or too long.
const printable = (value: string): string => /^[ -~]{0,2000}$/.test(value) ? value : '?'
