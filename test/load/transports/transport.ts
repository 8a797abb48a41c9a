import type { EventEmitter } from 'node:events'
import type { Gateway } from '../gateway.js'
import type { Json, Ledger } from '../ledger.js'

export interface Question { method: string, params: Json }

/** One client of a gateway. What it receives goes into its ledger. */
export interface Connection {
  readonly ledger: Ledger
  /** Settles when the connection is over, on either end. */
  readonly over: Promise<void>
  send: (id: number, question: Question) => void
  /** Hangs up as a crashed client does, with a reset. */
  cut: () => void
  /** Closes in order, where the transport has a way, and disconnects. */
  close: () => Promise<void>
}

/** What a client of HTTP connects to. */
export type Address = Pick<Gateway, 'port'>

export interface Transport<Target = Gateway> {
  /** How many calls one client may have under way: a POST has its connection to itself until it is answered. */
  depth: number
  open: (target: Target, ledger: Ledger) => Promise<Connection>
}

/** Settles when any of them is closed; how it came to that does not matter. */
export async function closed (...streams: EventEmitter[]): Promise<void> {
  await new Promise<void>(resolve => { for (const stream of streams) stream.once('close', resolve) })
}

export const MODERN = '2026-07-28'

/** What a client of the stateless revision sends in every request. */
const modernMeta: Json = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'load', version: '1.0.0' }
}

export const encode = (id: number | string, method: string, params: Json): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

export const hello = (protocolVersion: string, capabilities: Json = {}): string =>
  encode('hello', 'initialize', { protocolVersion, capabilities, clientInfo: { name: 'load', version: '1.0.0' } })

export const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })

export function modernParams (params: Json): Json {
  return { ...params, _meta: { ...modernMeta, ...params['_meta'] as Json | undefined } }
}
