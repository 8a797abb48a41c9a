/** The parameters of a `WWW-Authenticate` header with the scheme Bearer that matter to clients. */
export interface BearerChallenge {
  /** Where the metadata of the protected resource is (RFC 9728). */
  readonly resourceMetadata: string | undefined
  readonly scopes: readonly string[]
  /** The code of the error, such as `insufficient_scope` (RFC 6750). */
  readonly error: string | undefined
}

/** The longest header that is looked into. */
const MAX_LENGTH = 8_192
const MAX_SCOPES = 100

/** A scheme that begins a challenge, or a parameter: its name, and its value in quotes or without. */
const PART = /(?:^|[\s,])(?:([A-Za-z][\w-]*)(?=\s+[\w-]+\s*=)|([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*)))/g

/** The first challenge for a bearer token in a header; undefined where there is none. */
export function readBearerChallenge (header: string | undefined): BearerChallenge | undefined {
  if (header === undefined || header.length > MAX_LENGTH || !/(^|[\s,])bearer(\s|,|$)/i.test(header)) return undefined
  const found = new Map<string, string>()
  let isBearer = false
  for (const [, scheme, name, quoted, plain = ''] of header.matchAll(PART)) {
    if (scheme !== undefined) {
      if (isBearer) break
      isBearer = scheme.toLowerCase() === 'bearer'
    } else if (isBearer && name !== undefined && !found.has(name.toLowerCase())) {
      found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain)
    }
  }
  return {
    resourceMetadata: found.get('resource_metadata'),
    scopes: scopesIn(found.get('scope')),
    error: found.get('error')
  }
}

/** The scopes of a text that separates them by spaces, without those that no scope can be. */
export const scopesIn = (text: string | undefined): string[] =>
  [...new Set((text ?? '').split(' ').filter(scope => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope)))]
    .slice(0, MAX_SCOPES)
