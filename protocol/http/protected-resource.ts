const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * A server as its authorization server and its clients know it: lower-case scheme and host, nothing at the end that
 * means nothing.
 */
export function canonicalResource (resource: string): string {
  const { origin, pathname, search } = new URL(resource)
  return origin + (pathname === '/' && search === '' ? '' : pathname + search)
}

/** The names under which a token may be meant for this server. */
export function audienceOf (resource: string): string[] {
  const own = canonicalResource(resource)
  return [...new Set([resource, own, ...(new URL(own).pathname === '/' ? [`${own}/`] : [])])]
}

/**
 * Where clients find the metadata: the well-known name goes before the path. Under a prefix of a host application it
 * goes after that.
 */
export function metadataUrl (resource: string, hostPrefix = ''): string {
  const { origin, pathname, search } = new URL(resource)
  const path = pathname.startsWith(hostPrefix) ? pathname.slice(hostPrefix.length) : pathname
  return origin + hostPrefix + WELL_KNOWN + path.replace(/\/$/, '') + search
}

/**
 * The paths at which the metadata are served, for an endpoint at that path. Below all but the first they are served for
 * each view of the endpoint, too.
 */
export function metadataPaths (resource: string, endpoint: string, hostPrefix = ''): string[] {
  const own = new URL(metadataUrl(resource, hostPrefix)).pathname.slice(hostPrefix.length)
  return [...new Set([WELL_KNOWN, WELL_KNOWN + endpoint, own])]
}

/** The metadata document of RFC 9728. */
export function metadataOf (resource: string, issuer: string, scopes: readonly string[]): object {
  return {
    resource: canonicalResource(resource),
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header']
  }
}

/** The server as a challenge names it. */
export interface Challenger {
  /** The name of the server; left out where there is metadata. */
  realm: string
  /** The URL of the metadata of this protected resource. */
  metadata?: string | undefined
}

/** The fault of the credential, and the scopes to ask for. */
interface ChallengeDetails { error?: string | undefined, description?: string | undefined, scopes: readonly string[] }

/** The value of `WWW-Authenticate`: one Bearer challenge (RFC 6750, RFC 9728). */
export function challenge ({ realm, metadata }: Challenger, { error, description, scopes }: ChallengeDetails): string {
  const parts = {
    realm: metadata === undefined ? realm : undefined,
    error,
    error_description: description,
    scope: scopes.join(' '),
    resource_metadata: metadata
  }
  const params = Object.entries(parts).filter(
    (part): part is [string, string] => part[1] !== undefined && part[1] !== ''
  )
  return `Bearer ${params.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`
}

/** Text that fits a quoted string of a header: ASCII without quotes and backslashes. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, '')
