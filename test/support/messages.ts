import type { Bytes } from './http-client.js'

export type Era = 'legacy' | 'modern'
/** One message as it is written on the wire, where the two eras need different ones. */
export type Input = Bytes | ((era: Era) => Bytes)
type Json = Record<string, unknown>

export const NEWEST = '2025-11-25'
export const MODERN = '2026-07-28'

export const modernMeta = (version = MODERN, capabilities: Json = {}): Json => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': capabilities
})

/** A request that is well formed in either era. */
export const call =
  (method: string, params: Json = {}, id: unknown = 7): ((era: Era) => string) =>
    era =>
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method,
        params: era === 'modern' ? { _meta: modernMeta(), ...params } : params
      })

export const callTool = (name: string, args: Json = {}, id: unknown = 7): ((era: Era) => string) =>
  call('tools/call', { name, arguments: args }, id)

export const notification = (method: string, params: Json = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

export const initialize = (protocolVersion: unknown = NEWEST, capabilities: Json = {}, id: unknown = 0): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } }
  })

export const write = (input: Input, era: Era): Bytes => typeof input === 'function' ? input(era) : input

/** Arrays or objects nested this deep, as text. */
export const nested = (depth: number, open = '[', close = ']'): string => open.repeat(depth) + close.repeat(depth)
