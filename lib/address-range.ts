import { BlockList, isIP } from 'node:net'
import { isLoopback } from './network.js'

/** Where an address is: on this machine, in a network that is not the Internet, or on the Internet. */
export type AddressRange = 'loopback' | 'private' | 'public'

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3]
] as const) PRIVATE.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of [
  // With the IPv4-compatible ones.
  ['::', 96],
  ['64:ff9b:1::', 48],
  // Teredo, which leads to IPv4 addresses.
  ['2001::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8]
] as const) PRIVATE.addSubnet(network, bits, 'ipv6')

/** The range of an IP address. IPv4 addresses in IPv6 form count as what they are; what is no address is private. */
export function rangeOf (address: string): AddressRange {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')
  const plain = embeddedIPv4(bare) ?? bare
  const family = isIP(plain)
  if (family === 0) return 'private'
  if (isLoopback(plain)) return 'loopback'
  return PRIVATE.check(plain, family === 4 ? 'ipv4' : 'ipv6') ? 'private' : 'public'
}

/** The IPv4 address that one of IPv6 stands for: mapped, translated (NAT64) or 6to4. */
function embeddedIPv4 (address: string): string | undefined {
  if (isIP(address) !== 6) return undefined
  const groups = groupsOf(address)
  const head = groups.slice(0, 6).join(':')
  if (head === '0:0:0:0:0:ffff' || head === '64:ff9b:0:0:0:0') return dotted(groups[6], groups[7])
  return groups[0] === '2002' ? dotted(groups[1], groups[2]) : undefined
}

/** The eight groups, without leading zeros. `URL` writes an address in its shortest form, without dots. */
function groupsOf (address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map(part => part.split(':').filter(group => group !== '')) as [string[], string[]]
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill('0'), ...after]
}

function dotted (high = '0', low = '0'): string {
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)]
  return [a >> 8, a & 255, b >> 8, b & 255].join('.')
}
