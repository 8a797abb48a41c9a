import type { Channel, Headers } from '../wire/channel.js'

/** The headers that proxies and content networks add to a request, besides `X-Forwarded-*`. */
const NAMES = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'x-proxyuser-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'true-client-ip'
])

/** True when a message on this channel came through a proxy, as the headers of its request or of its connection say. */
export function cameThroughProxy ({ proxied, headers }: Pick<Channel, 'proxied' | 'headers'>): boolean {
  return proxied === true || (headers !== undefined && isProxied(headers))
}

/**
 * True when a proxy has added one of its headers to a request: `Forwarded`, `Via`, any `X-Forwarded-*`, or one of their
 * like.
 */
export function isProxied (headers: Headers): boolean {
  for (const name in headers) if (NAMES.has(name) || name.startsWith('x-forwarded-')) return true
  return false
}
