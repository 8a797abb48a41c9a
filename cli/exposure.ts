import type { Options } from '../options.js'
import { isLoopback } from '../lib/network.js'

type Checked = Pick<
  Options,
  'http' | 'stdio' | 'host' | 'port' | 'allowedHosts' | 'trustProxy' | 'apiKeys' | 'oauth' | 'allowAnonymous'
>

/**
 * Throws a sentence with what to do if other machines can reach the gateway and the options name no callers, or no host
 * names.
 */
export function checkExposure (options: Checked): void {
  const { http, stdio, host, port, allowedHosts, allowAnonymous } = options
  if (!http && !stdio) throw new Error('there is nothing to serve: option http is false and option stdio is not set')
  const exposure = exposureOf(options)
  if (!http || exposure === undefined) return
  const open = isOpen(options) && !allowAnonymous
  const nameless = !isLoopback(host) && allowedHosts.length === 0
  if (!open && !nameless) return
  const lacking = [
    ...(open ? ['who may call (apiKeys or oauth)'] : []),
    ...(nameless ? ['which names they use (allowedHosts)'] : [])
  ]
  const instead = isLoopback(host) ? 'leave that option out' : 'listen on 127.0.0.1'
  const fix = [
    ...(open ? ["PATCHBAY_API_KEYS='[...]'"] : []),
    ...(nameless ? ['PATCHBAY_ALLOWED_HOSTS=mcp.example.com'] : []),
    `patchbay --host ${host} --port ${port}`
  ].join(' ')
  throw new Error(
    `${exposure}, so say ${lacking.join(' and ')}, or ${instead}; ` +
      (open
        ? 'if everyone who gets there may use everything, set allowAnonymous to true (PATCHBAY_ALLOW_ANONYMOUS=true); '
        : '') +
      `${open ? '"patchbay key me" makes a key and prints its PATCHBAY_API_KEYS; then for example' : 'for example'}: ${fix}`
  )
}

/** The warning for the log if an option allows other machines without credentials. */
export function anonymousWarning (options: Checked): string | undefined {
  const exposure = exposureOf(options)
  if (!options.http || !options.allowAnonymous || !isOpen(options) || exposure === undefined) return undefined
  return `${exposure}, and option allowAnonymous is set: everyone who gets there may use everything`
}

const isOpen = ({ apiKeys, oauth }: Checked): boolean => apiKeys.length === 0 && oauth === undefined

/** The option that shows that other machines reach the gateway, directly or through a proxy; undefined if none does. */
function exposureOf ({ host, allowedHosts, trustProxy = false }: Checked): string | undefined {
  if (!isLoopback(host)) return `option host is ${host}, which other machines can reach`
  const name = allowedHosts.find(allowed => !isLoopback(withoutPort(allowed)))
  if (name !== undefined) {
    return `option allowedHosts has ${name}, a name for other machines, which reach this one through a proxy`
  }
  const proxied = Array.isArray(trustProxy) ? trustProxy.length > 0 : trustProxy
  return proxied ? 'option trustProxy is set, and through a proxy other machines reach this one' : undefined
}

/** An IPv6 address alone has more than one colon, and no port. */
const withoutPort = (host: string): string => host.replace(/^(\[.*\]|[^:]*):\d+$/, '$1')
