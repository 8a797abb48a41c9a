import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * True for an address or a name that reaches this machine only: 127.0.0.0/8 (also as `127.1`), ::1 (also as `[::1]`),
 * and `localhost`, with or without the dot that ends a full name.
 */
export function isLoopback (host: string): boolean {
  const name = fourNumbers(host.toLowerCase().replace(/^\[(.*)\]$/, '$1').replace(/\.$/, ''))
  const family = isIP(name)
  return name === 'localhost' || (family !== 0 && LOOPBACK.check(name, family === 4 ? 'ipv4' : 'ipv6'))
}

/** The system and URLs read `127.1`, `0x7f.1` and `2130706433` as IPv4 addresses; this writes them out. */
function fourNumbers (name: string): string {
  return /^[\dx][\da-fx.]*$/.test(name) && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name
}

/** True for an IP address, alone or with the number of bits that its network has. */
export function isNetwork (text: string): boolean {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  return bits === undefined || (Number(bits) > 0 && Number(bits) <= (family === 4 ? 32 : 128))
}

/**
 * Reads the body of an HTTP response of at most `max` bytes after decompression. Beyond that it stops and throws what
 * `tooLarge` returns.
 */
export async function readBounded ({ body }: Response, max: number, tooLarge: () => Error): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > max) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Decodes the percent-encoding of a part of a URI; undefined if it is not valid. */
export function tryDecode (encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** The header `Authorization` for the user and password of a URL; undefined where it has none. */
export function basicCredential ({ username, password }: Pick<URL, 'username' | 'password'>): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from([username, password].map(text => tryDecode(text) ?? text).join(':')).toString('base64')}`
}

/** True for a URL that a token may be sent to: one with TLS, or on this machine. */
export const isConfidential = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'https:' || protocol === 'wss:' || isLoopback(hostname)

/**
 * Escapes a URL that cannot be decoded: Fastify would answer it without any hook, and so it is an unknown URL like
 * others.
 */
export function escapeUndecodable (url: string): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split(/[?#;]/, 1)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
}
