import { resolve } from 'node:path'
import { isLoopback } from '../../lib/network.js'
import type { Address } from '../server-entry.js'

/** Where the gateway listens, if it does and if that is known. */
export interface Listening {
  readonly http?: boolean | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
}

/**
 * True for a server that is this gateway: a file that has an entry for Patchbay beside the others would make each
 * gateway start one more. Such an entry starts a program with the same file for `--mcp-config`, or has the URL that the
 * gateway listens on.
 */
export function isGatewayItself (
  address: Address,
  files: readonly string[],
  home: string | undefined,
  { http = false, host, port }: Listening
): boolean {
  if (address.kind !== 'stdio') {
    // A disabled server may have no URL.
    if (!URL.canParse(address.url)) return false
    const { hostname, port: given, protocol } = new URL(address.url)
    const usual = /^(https|wss):$/.test(protocol) ? 443 : 80
    return (
      http &&
      port !== undefined &&
      Number(given === '' ? usual : given) === port &&
      (isLoopback(hostname) || hostname === host)
    )
  }
  const { args, env, cwd = '.' } = address
  const named = args.flatMap((arg, index) =>
    arg === '--mcp-config'
      ? [args[index + 1] ?? '']
      : arg.startsWith('--mcp-config=')
        ? [arg.slice('--mcp-config='.length)]
        : []
  )
  const words = [...named, ...(env['PATCHBAY_MCP_CONFIG'] ?? '').split(',')].filter(word => word !== '')
  return words.some(word =>
    files.includes(word.startsWith('~/') && home !== undefined ? resolve(home, word.slice(2)) : resolve(cwd, word))
  )
}
