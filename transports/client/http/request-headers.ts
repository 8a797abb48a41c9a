import { validateHeaderName, validateHeaderValue } from 'node:http'
import { basicCredential } from '../../../lib/network.js'

/** Headers that HTTP and the protocol set. Files of clients often have some of them, with the same values. */
const OURS = new RegExp(
  `^(${[
    'host',
    'connection',
    'keep-alive',
    'proxy-connection',
    'transfer-encoding',
    'content-length',
    'content-type',
    'upgrade',
    'expect',
    'te',
    'trailer',
    'accept',
    'accept-encoding',
    'last-event-id',
    'sec-websocket-.*',
    'mcp-session-id',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'mcp-param-.*'
  ].join('|')})$`,
  'i'
)

/**
 * The configured headers of every request, names and values in turn, without those that the protocol sets. Throws in
 * words, without values, where a configured one cannot be sent.
 */
export function configuredHeaders (url: URL, configured: Readonly<Record<string, string>>): string[] {
  const headers = Object.entries(configured).flatMap(([name, value]) => {
    if (OURS.test(name)) return []
    checkHeader(name, value)
    return [name, value]
  })
  const has = (wanted: string): boolean =>
    headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === wanted)
  if (!has('user-agent')) headers.push('user-agent', 'mcp-patchbay')
  const credential = basicCredential(url)
  if (credential !== undefined && !has('authorization')) headers.push('authorization', credential)
  return headers
}

function checkHeader (name: string, value: string): void {
  try {
    validateHeaderName(name)
  } catch {
    throw new Error('a header in "headers" has a name with characters that HTTP does not allow')
  }
  try {
    validateHeaderValue(name, value)
  } catch {
    throw new Error(
      `the value of the header ${name} has characters that HTTP does not allow; look for line breaks and letters outside of ISO 8859-1`
    )
  }
}
