import { isObject } from './json.js'

/** The keys of `_meta` that the protocol gives a meaning. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo'
} as const

/**
 * The keys of `_meta` that gateways of ours use with each other: a client says that it is one, and is told over which
 * hops what it lists may come.
 */
export const GATEWAY_META = { gateway: 'patchbay/gateway', hops: 'patchbay/hops' } as const

type Meta = Readonly<Record<string, unknown>>

const NONE: Meta = Object.freeze({})

/** The `_meta` of some params; an empty object where there is none. */
export const metaOf = ({ _meta }: Readonly<Record<string, unknown>>): Meta => isObject(_meta) ? _meta : NONE
