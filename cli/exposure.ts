import type { Options } from '../options.js'
import { isLoopback } from '../lib/loopback.js'

type Checked = Pick<Options, 'http' | 'stdio' | 'host' | 'port' | 'allowedHosts' | 'trustProxy' | 'apiKeys' | 'oauth' | 'allowAnonymous'>

/** Throws what to do when the options would let other machines in without saying who may call, and under which names. */
export function checkExposure (options: Checked): void {
  const { http, stdio, host, port, allowedHosts, allowAnonymous } = options
  if (!http && !stdio) throw new Error('there is nothing to serve: option http is false and option stdio is not set')
  const sign = signOfOthers(options)
  if (!http || sign === undefined) return
  const open = isOpen(options) && !allowAnonymous
  const nameless = !isLoopback(host) && allowedHosts.length === 0
  if (!open && !nameless) return
  const lacking = [...(open ? ['who may call (apiKeys or oauth)'] : []), ...(nameless ? ['which names they use (allowedHosts)'] : [])]
  const instead = isLoopback(host) ? 'leave that option out' : 'listen on 127.0.0.1'
  const fix = [...(open ? ["PATCHBAY_API_KEYS='[...]'"] : []), ...(nameless ? ['PATCHBAY_ALLOWED_HOSTS=mcp.example.com'] : []), `patchbay --host ${host} --port ${port}`].join(' ')
  throw new Error(`${sign}, so say ${lacking.join(' and ')}, or ${instead}; ` +
    (open ? 'if everyone who gets there may use everything, set allowAnonymous to true (PATCHBAY_ALLOW_ANONYMOUS=true); ' : '') +
    `${open ? '"patchbay key me" makes a key and prints its PATCHBAY_API_KEYS; then for example' : 'for example'}: ${fix}`)
}

/** What to put into the log where other machines are served without credentials because an option allows it. */
export function anonymousWarning (options: Checked): string | undefined {
  const sign = signOfOthers(options)
  if (!options.http || !options.allowAnonymous || !isOpen(options) || sign === undefined) return undefined
  return `${sign}, and option allowAnonymous is set: everyone who gets there may use everything`
}

const isOpen = ({ apiKeys, oauth }: Checked): boolean => apiKeys.length === 0 && oauth === undefined

/** By which option it can be seen that other machines reach the gateway, directly or through a proxy; undefined when none says so. */
function signOfOthers ({ host, allowedHosts, trustProxy = false }: Checked): string | undefined {
  if (!isLoopback(host)) return `option host is ${host}, which other machines can reach`
  const name = allowedHosts.find(allowed => !isLoopback(withoutPort(allowed)))
  if (name !== undefined) return `option allowedHosts has ${name}, a name for other machines, which reach this one through a proxy`
  const proxied = Array.isArray(trustProxy) ? trustProxy.length > 0 : trustProxy
  return proxied ? 'option trustProxy is set, and through a proxy other machines reach this one' : undefined
}

/** An IPv6 address alone has more than one colon, and no port. */
const withoutPort = (host: string): string => host.replace(/^(\[.*\]|[^:]*):\d+$/, '$1')
