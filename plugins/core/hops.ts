import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { GATEWAY_META, metaOf } from '../../protocol/wire/meta.js'
import { PreparedResult, resultToJson } from '../../protocol/wire/result.js'

declare module './mcp.js' {
  interface Mcp {
    /** Tells gateways in front of this one what they need to notice that they are behind it, too. */
    hops: {
      /**
       * The result of a list or handshake for this caller: for a gateway, with the ids of the hops that what it has of
       * upstreams may have come over.
       */
      mark: (call: Call, result: object | PreparedResult) => object | PreparedResult
      /** Sets the function that finds these ids; undefined when there are no upstreams. */
      findWith: (find: ((call: Call) => string[]) | undefined) => void
    }
  }
}

/** Marks the results that gateways of ours get, and no others. */
export default fp(async ({ mcp }) => {
  let find: ((call: Call) => string[]) | undefined

  mcp.provide('hops', {
    mark: (call, result) => call.meta[GATEWAY_META.gateway] === true ? withHops(result, find?.(call) ?? []) : result,
    findWith: found => { find = found }
  })
}, { name: 'patchbay-hops', dependencies: ['patchbay-mcp'] })

function withHops (result: object | PreparedResult, hops: string[]): object {
  const plain = (result instanceof PreparedResult ? JSON.parse(resultToJson(result)) : result) as Record<
    string,
    unknown
  >
  return { ...plain, _meta: { ...metaOf(plain), [GATEWAY_META.hops]: hops } }
}
