import { ADDRESS_REFUSED } from '../../../lib/address-check.js'

/** Errors below HTTP, in words. The text of the error itself may name hosts and stays out. */
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused; see that the server runs and that the port is right',
  ENOTFOUND: 'its host name is not known; see that the URL is right',
  EAI_AGAIN: 'its host name could not be looked up; see that the network works',
  EHOSTUNREACH: 'its host cannot be reached; see that the network works',
  ENETUNREACH: 'its network cannot be reached; see that the network works',
  [ADDRESS_REFUSED]: 'its host name leads to an address in a network that it must not lead to; set "url" of this server if that is right',
  EPROTO: 'it does not speak TLS there; see whether the URL should begin with http:',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there; see whether the URL should begin with http:',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there; see whether the URL should begin with http:',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    'it does not speak HTTP/1.1 there, which is the version that Patchbay uses',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; use the name that the certificate has',
  CERT_HAS_EXPIRED: 'its certificate has expired; it has to be renewed there',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; see that the clock is right',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; name the file of its authority in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is from an unknown authority; name the file of that authority in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is from an unknown authority; name the file of that authority in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is from an unknown authority; name the file of that authority in NODE_EXTRA_CA_CERTS',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be opened in time; see that the host can be reached',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it stopped in the middle of its answer',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of its answer are too long',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer is not as long as its Content-Length says',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'its answer is too long'
}

/** Nothing of the request was sent when the connection failed like this. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  ADDRESS_REFUSED,
  'UND_ERR_CONNECT_TIMEOUT'
])

/** Says in words why an HTTP exchange or a socket failed. */
export function describeNetworkError (error: unknown): string {
  const code = codeOf(error)
  if (code.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError')) {
    return 'what it sent is not HTTP/1.1'
  }
  return WORDS[code] ?? (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_)/.test(code)
    ? `the TLS handshake failed (${code})`
    : 'the connection was closed before the answer was complete')
}

/** True when no server was reached at all. */
export const isUnreachable = (error: unknown): boolean => NOT_SENT.has(codeOf(error))

function codeOf (error: unknown): string {
  if (!(error instanceof Error)) return ''
  // A host name with several addresses fails with one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string' && error.code !== 'UND_ERR_SOCKET') return error.code
  return error.cause === undefined ? '' : codeOf(error.cause)
}
