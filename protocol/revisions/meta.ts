import { errors } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import { isId, type Params } from '../wire/jsonrpc.js'
import { isLogLevel } from '../wire/log-level.js'

/** The keys of `_meta` that the protocol gives a meaning. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo'
} as const

const NONE: Params = Object.freeze({})

export const metaOf = ({ _meta }: Params): Params => isObject(_meta) ? _meta : NONE

/** Refuses a `_meta` whose known keys do not hold what they must. */
export function checkMeta (params: Params, maxId: number): void {
  if (params._meta === undefined) return
  if (!isObject(params._meta)) throw errors.malformedMeta('_meta must be an object')
  const { progressToken, [META.logLevel]: level } = params._meta
  if (progressToken !== undefined && !isId(progressToken)) throw errors.malformedMeta('_meta.progressToken must be a string or an integer')
  if (typeof progressToken === 'string' && progressToken.length > maxId) throw errors.malformedMeta(`_meta.progressToken must have at most ${maxId} characters`)
  if (level !== undefined && !isLogLevel(level)) throw errors.malformedMeta(`_meta["${META.logLevel}"] is not a log level`)
}
