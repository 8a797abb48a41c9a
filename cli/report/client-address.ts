import { isLoopback } from '../../lib/network.js'
import type { Options } from '../../options.js'

export type Addressed = Pick<Options, 'host' | 'allowedHosts' | 'prefix' | 'apiKeys' | 'oauth' | 'view'>

/** How a client connects to a running gateway. */
export interface HttpEntry { url: string, headers?: Record<string, string> }

const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]'])

/** The URL that clients use, as far as the options tell, with a place for the API key where there are keys. */
export function httpEntry (address: string, options: Addressed): HttpEntry {
  const headers = options.apiKeys.length === 0 ? {} : { headers: { Authorization: 'Bearer <your key>' } }
  const { view } = options
  return { url: `${clientUrl(address, options)}${view === undefined ? '' : `/${view}`}`, ...headers }
}

/** True when clients on other machines come through a proxy, whose scheme and port the gateway does not know. */
export function isBehindProxy ({ host, allowedHosts }: Addressed): boolean {
  return isLoopback(host) && publicName(allowedHosts) !== undefined
}

function clientUrl (address: string, options: Addressed): string {
  const { host, allowedHosts, prefix, oauth } = options
  if (oauth !== undefined) return oauth.resource
  const name = publicName(allowedHosts)
  if (name === undefined) return `${address}${prefix}/mcp`
  // A proxy in front of a loopback address most likely has TLS.
  if (isBehindProxy(options)) return `https://${name}${prefix}/mcp`
  const { protocol, port } = new URL(address)
  return EVERY_ADDRESS.has(host)
    ? `${protocol}//${name}${/:\d+$/.test(name) || port === '' ? '' : `:${port}`}${prefix}/mcp`
    : `${address}${prefix}/mcp`
}

const publicName = (names: string[]): string | undefined =>
  names.find(name => !isLoopback(name.replace(/^(\[.*\]|[^:]*):\d+$/, '$1')))
