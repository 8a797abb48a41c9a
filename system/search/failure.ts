/** Why a search failed, in a sentence for the caller. */
export class SearchFailure extends Error {
  override readonly name = 'SearchFailure'
}

/**
 * Describes why a connection failed. Contains codes of errors only, never their text, which may name paths and
 * addresses.
 */
export function connectionFailure (error: unknown): SearchFailure {
  const code = codeOf(error)
  if (TIMEOUTS.has(code)) return new SearchFailure('Network timeout')
  if (CLOSED.has(code)) return new SearchFailure(`The search service cut the connection (${code})`)
  if (/CERT|SIGNATURE/.test(code)) {
    return new SearchFailure(`The search service shows a certificate that is not trusted here (${code})`)
  }
  if (/^(HPE_|EPROTO$|ERR_SSL_|UND_ERR_HEADERS_OVERFLOW$|HTTPParserError$)/.test(code)) {
    return new SearchFailure(`The search service answered with something that is not HTTP (${code})`)
  }
  const detail = [code, REASONS[code]].filter(Boolean).join(': ')
  return new SearchFailure(`The search service could not be reached${detail === '' ? '' : ` (${detail})`}`)
}

const TIMEOUTS = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])
const REASONS: Record<string, string> = {
  ENOTFOUND: 'its name has no address; check the connection to the internet, or the option searchUrl',
  EAI_AGAIN: 'its name could not be looked up; check the connection to the internet',
  ECONNREFUSED: 'nothing listens at its address',
  EHOSTUNREACH: 'there is no way to its address',
  ENETUNREACH: 'there is no way to its network; check the connection to the internet'
}

// fetch throws a TypeError whose cause is the error of the connection.
function codeOf (error: unknown): string {
  const { code, name } = ((error as Error).cause ?? error) as { code?: unknown, name?: unknown }
  if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) return code
  // Newer versions of Node.js have no code for malformed HTTP.
  return name === 'HTTPParserError' ? name : ''
}
