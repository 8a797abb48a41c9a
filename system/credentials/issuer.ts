import { isLoopback } from '../../lib/network.js'
import { fetchJson, isSafe } from './fetch-json.js'

const TIMEOUT = 5_000

/** Reads the URL of an issuer's keys from its metadata. */
export async function findJwks (issuer: string, signal: AbortSignal): Promise<URL> {
  const failures: string[] = []
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)])
  for (const url of metadataUrls(new URL(issuer))) {
    try {
      return jwksOf(await fetchJson(url, limit), issuer)
    } catch (error) {
      failures.push(reasonOf(error))
    }
  }
  throw new Error(`the metadata of ${issuer} cannot be used: ${failures.join('; ')}`)
}

export function reasonOf (error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

/**
 * RFC 8414 puts the well-known name before the path of the issuer, OpenID Connect after it; some servers put OpenID's
 * name before it.
 */
function metadataUrls ({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  const paths = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`
  ]
  return [...new Set(paths)].map(path => new URL(path, origin))
}

// Metadata of another issuer are refused, and so are keys on this machine for an issuer elsewhere.
function jwksOf (metadata: unknown, issuer: string): URL {
  const { issuer: claimed, jwks_uri: uri } = Object(metadata) as Record<string, unknown>
  if (claimed !== issuer) throw new Error(`there the issuer is called ${JSON.stringify(claimed)}`)
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || !isSafe(url)) throw new Error('jwks_uri is not an https URL')
  if (url.protocol === 'http:' && !isLoopback(new URL(issuer).hostname)) throw new Error('jwks_uri is not an https URL')
  return url
}
