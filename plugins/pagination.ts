import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../protocol/call.js'
import type { Collection } from '../protocol/collection.js'
import { errors } from '../protocol/errors.js'
import { Json } from '../protocol/result.js'
import { convert } from '../protocol/revisions/convert.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Serves a list method from a collection, page by page. Each page is written once per revision and kept until the list changes. */
    paginate: (method: string, member: string, collection: Collection<Listed>) => void
  }
}

interface Listed { readonly listed: Record<string, unknown> }

const Page = Type.Object({ cursor: Type.Optional(Type.String()) })

const LIST_TTL = 60_000

export default fp(async (fastify, { pageSize }: { pageSize: number }) => {
  const { mcp } = fastify

  fastify.decorate('paginate', (method, member, collection) => {
    mcp.method(method, Page, ({ cursor }, { revision }) => {
      const after = cursor === undefined ? undefined : position(method, cursor)
      const key = `${revision.version} ${after === undefined ? '' : `>${after}`}`
      const text = collection.derived.get(key) ?? write(method, member, collection, after, revision)
      collection.derived.set(key, text)
      return new Json(text)
    })
  })

  function write (method: string, member: string, collection: Collection<Listed>, after: string | undefined, revision: Call['revision']): string {
    const { items, last } = collection.page(after, pageSize)
    const page = {
      [member]: items.map(({ listed }) => convert.definition(listed, revision.features)),
      ...(last === undefined ? {} : { nextCursor: mcp.sealer.seal(method, last) })
    }
    return JSON.stringify(revision.cached(page, { ttlMs: LIST_TTL, cacheScope: 'public' }))
  }

  function position (method: string, cursor: string): string {
    const after = mcp.sealer.open(method, cursor)
    if (typeof after !== 'string') throw errors.invalidParams('the cursor was not issued by this server for this list; start again without one')
    return after
  }
}, { name: 'pagination', dependencies: ['mcp'] })
