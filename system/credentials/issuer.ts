import { isLoopback } from '../../lib/network/loopback.js'
import { fetchJson, isSafe } from './fetch-json.js'

const TIMEOUT = 5_000

/** Where the keys of an issuer are, as its metadata say. */
export async function findJwks (issuer: string, signal: AbortSignal): Promise<URL> {
  const failures: string[] = []
  const together = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)])
  for (const place of placesOf(new URL(issuer))) {
    try {
      return jwksOf(await fetchJson(place, together), issuer)
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

/** RFC 8414 puts the well-known name before the path of the issuer, OpenID Connect after it; some do the former with the latter's name. */
function placesOf ({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  const places = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`, `${path}/.well-known/openid-configuration`]
  return [...new Set(places)].map(place => new URL(place, origin))
}

// Whoever speaks for another issuer is not believed, nor does a document from elsewhere point at this machine.
function jwksOf (metadata: unknown, issuer: string): URL {
  const { issuer: claimed, jwks_uri: uri } = Object(metadata) as Record<string, unknown>
  if (claimed !== issuer) throw new Error(`there the issuer is called ${JSON.stringify(claimed)}`)
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || !isSafe(url)) throw new Error('jwks_uri is not an https URL')
  if (url.protocol === 'http:' && !isLoopback(new URL(issuer).hostname)) throw new Error('jwks_uri is not an https URL')
  return url
}
