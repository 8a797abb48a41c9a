import type { Head } from './http-client.js'
import { hashOf } from '../../system/credentials/api-key.js'

export const ADA = 'pb_ada-0123456789-0123456789-0123456789-012'
export const BOB = 'pb_bob-0123456789-0123456789-0123456789-012'

/** An entry of the option for a key. */
export const listed = (name: string, key: string, scopes: string[] = ['mcp'], more: object = {}) => ({
  name,
  hash: hashOf(key),
  scopes,
  ...more
})

/** Ada may do everything that asks for nothing in particular, and write notes; Bob may do everything. */
export const apiKeys = [listed('ada', ADA, ['mcp', 'notes']), listed('bob', BOB, ['admin'])]

export const bearer = (credential: string): { authorization: string } => ({ authorization: `Bearer ${credential}` })

export const headOf = (credential: string): Head => [['Authorization', `Bearer ${credential}`]]

export const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** The parameters of a challenge, once the header is known to be one. */
export function challengeOf (header: unknown): Record<string, string> {
  const [, parameters] = /^Bearer ([a-z_]+="[^"]*"(?:, [a-z_]+="[^"]*")*)$/.exec(String(header)) ?? []
  if (parameters === undefined) throw new Error(`not one challenge: ${String(header)}`)
  return Object.fromEntries(
    [...parameters.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value])
  ) as Record<string, string>
}
