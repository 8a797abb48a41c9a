import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** True for an address or a name that reaches this machine only: 127.0.0.0/8 (also as `127.1`), ::1 (also as `[::1]`), and `localhost`, with or without the dot that ends a full name. */
export function isLoopback (host: string): boolean {
  const name = fourNumbers(host.toLowerCase().replace(/^\[(.*)\]$/, '$1').replace(/\.$/, ''))
  const family = isIP(name)
  return name === 'localhost' || (family !== 0 && LOOPBACK.check(name, family === 4 ? 'ipv4' : 'ipv6'))
}

/** The system and URLs read `127.1`, `0x7f.1` and `2130706433` as IPv4 addresses; this writes them out. */
function fourNumbers (name: string): string {
  return /^[\dx][\da-fx.]*$/.test(name) && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name
}
