import { isIP, isIPv6 } from 'node:net'
import { isLoopback } from '../../lib/network.js'

/** Stands for all callers whose proxy sent something that is not an address. */
const NO_ADDRESS = 'no address'

/**
 * The network to count an address under: an IPv4 address itself, the /64 of an IPv6 address, because one host has all
 * of it, and `::1` for this machine. A port is ignored.
 */
export function networkOf (given: string): string {
  const address = isIP(given) !== 0 ? given : withoutPort(String(given))
  if (isIP(address) === 0) return NO_ADDRESS
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1] as string
  if (isLoopback(address)) return '::1'
  const [head = '', tail] = (address.split('%')[0] as string).split('::')
  const groups = head.split(':').filter(Boolean)
  const last = (tail ?? '').split(':').filter(Boolean)
  const missing =
    tail === undefined ? 0 : 8 - groups.length - last.length - (last.at(-1)?.includes('.') === true ? 1 : 0)
  const all = [...groups, ...new Array<string>(missing).fill('0'), ...last]
  return `${all.slice(0, 4).map(group => parseInt(group, 16).toString(16)).join(':')}::/64`
}

function withoutPort (address: string): string {
  const [, six, four] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? []
  return six ?? four ?? ''
}
