import { createHash } from 'node:crypto'
import type { Environment } from '../../system/environment.js'
import type { Address } from '../server-entry.js'

type StdioAddress = Extract<Address, { kind: 'stdio' }>

/**
 * The variable that tells a program which entries have been started from gateway to gateway until it was started: their
 * digests, the outermost first. Gateways of older versions refuse unknown variables that begin with PATCHBAY_.
 */
export const VIA = 'MCP_PATCHBAY_VIA'

/** The most gateways inside of each other that start programs. */
const MAX_DEPTH = 8

/**
 * Says why a program is not started, or undefined: a gateway that starts a gateway with the same entry would go on for
 * ever.
 */
export function describeNesting (address: Address, env: Environment): string | undefined {
  if (address.kind !== 'stdio') return undefined
  const via = viaOf(env)
  if (via.includes(digestOf(address))) {
    return `would start what has started this gateway (variable ${VIA}); it is left out`
  }
  return via.length >= MAX_DEPTH
    ? `would be started by a gateway inside of ${via.length} others (variable ${VIA}); it is left out`
    : undefined
}

/** The value of the variable for a program, if the gateway that starts it has the variables `env`. */
export const viaFor = (address: StdioAddress, env: Environment): string => [...viaOf(env), digestOf(address)].join(',')

/** The digests in the variable; anything else in it is ignored. */
const viaOf = ({ [VIA]: via = '' }: Environment): string[] => via.split(',').filter(digest => /^[\w-]{8}$/.test(digest))

/** 48 bits tell entries apart, and are too few to find the secrets that may be in an entry. */
function digestOf ({ command, args, env, cwd }: StdioAddress): string {
  const sorted = Object.entries(env).sort(([one], [other]) => one < other ? -1 : 1)
  return createHash('sha256').update(JSON.stringify([command, args, sorted, cwd])).digest('base64url').slice(0, 8)
}
