import { isIP } from 'node:net'

/** True for an IP address, alone or with the number of bits that its network has. */
export function isNetwork (text: string): boolean {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  return bits === undefined || (Number(bits) > 0 && Number(bits) <= (family === 4 ? 32 : 128))
}
