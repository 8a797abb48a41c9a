import { metadataUrl } from '../../protocol/http/protected-resource.js'

export interface ConsoleOAuth {
  issuer: string
  resource: string
  scopes?: readonly string[] | undefined
  consoleClientId?: string | undefined
}

/** Facts that the page needs for a login with OAuth. */
export interface OAuthLogin {
  clientId: string
  /** Where the page is for those who log in: the authorization server sends the browser back there. */
  redirectUri: string
  /** Where the gateway says which authorization server issues tokens for it. */
  metadata: string
}

/**
 * The client that the console is to the authorization server: the one that is registered there, or else the URL of a
 * Client ID Metadata Document that is served here. Its URLs are those of the resource, which is how clients see this
 * gateway, also behind a proxy.
 */
export function loginOf ({ resource, consoleClientId }: ConsoleOAuth, base: string, hostPrefix = ''): OAuthLogin {
  const redirectUri = pageUrl(new URL(resource), base)
  return {
    clientId: consoleClientId ?? new URL('client.json', redirectUri).href,
    redirectUri,
    metadata: metadataUrl(resource, hostPrefix)
  }
}

/** Beside the endpoint of MCP. A resource that does not name the endpoint is the origin of the gateway. */
function pageUrl ({ origin, pathname }: URL, base: string): string {
  const before = pathname.endsWith('/mcp') ? pathname.slice(0, -'/mcp'.length) : base
  return `${origin}${before}/console/`
}

/** The document that an authorization server fetches to learn about the console: a public client without a secret. */
export function clientMetadata (
  name: string,
  { clientId, redirectUri }: Pick<OAuthLogin, 'clientId' | 'redirectUri'>
): object {
  return {
    client_id: clientId,
    client_name: `Console of ${name}`,
    client_uri: redirectUri,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web'
  }
}
