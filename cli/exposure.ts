import type { Options } from '../options.js'
import { isLoopback } from '../system/loopback.js'

/** Throws what to do when the options would let other machines in without saying who may call, and under which names. */
export function checkExposure ({ http, stdio, host, port, allowedHosts, apiKeys, oauth }: Options): void {
  if (!http && !stdio) throw new Error('there is nothing to serve: option http is false and option stdio is not set')
  if (!http || isLoopback(host)) return
  const open = apiKeys.length === 0 && oauth === undefined
  const lacking = [...(open ? ['who may call (apiKeys or oauth)'] : []), ...(allowedHosts.length === 0 ? ['which names they use (allowedHosts)'] : [])]
  if (lacking.length === 0) return
  const fix = [...(open ? ["PATCHBAY_API_KEYS='[...]'"] : []), ...(allowedHosts.length === 0 ? ['PATCHBAY_ALLOWED_HOSTS=mcp.example.com'] : []), `patchbay --host ${host} --port ${port}`].join(' ')
  throw new Error(`option host is ${host}, which other machines can reach, so say ${lacking.join(' and ')}, or listen on 127.0.0.1; ` +
    `${open ? '"patchbay key me" makes a key and prints its PATCHBAY_API_KEYS; then for example' : 'for example'}: ${fix}`)
}
