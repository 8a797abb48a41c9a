import type { Dial, LinkEvents, UrlLinkOptions } from '../link.js'
import { HttpClient, type HttpClientOptions } from './http-client.js'
import { HttpLink } from './http-link.js'
import { configuredHeaders } from './request-headers.js'

/** Where a server is on the network, as it is configured. */
export interface UrlAddress { readonly url: string, readonly headers: Readonly<Record<string, string>> }

export interface HttpDialOptions extends UrlLinkOptions, HttpClientOptions {}

/** Dials Streamable HTTP. Nothing is sent before the first request. */
export function dialHttp (address: UrlAddress, options: HttpDialOptions): Dial {
  return async (events: LinkEvents) => {
    const { client, path, headers } = await openClient(address, options)
    return new HttpLink(client, path, headers, options, events)
  }
}

/** The client for the origin of a URL, the path there, and the configured headers. */
export async function openClient (
  { url, headers }: UrlAddress,
  options: HttpClientOptions
): Promise<{ client: HttpClient, path: string, headers: string[] }> {
  if (!URL.canParse(url)) throw new Error('its URL cannot be read; correct "url" of this server')
  const target = new URL(url)
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new Error('its URL does not begin with http: or https:; correct "url" of this server')
  }
  const configured = configuredHeaders(target, headers)
  const { Pool } = await import('undici')
  return {
    client: new HttpClient(Pool, target.origin, options),
    path: target.pathname + target.search,
    headers: configured
  }
}
