import fp from 'fastify-plugin'
import { ToolError } from '../../protocol/wire/errors.js'
import { SearchFailure } from '../../system/search/failure.js'
import type { Result } from '../../system/search/results-page.js'
import { search } from '../../system/search/search.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Searches the web. Throws a `ToolError` when the search fails. */
    webSearch: (query: string, max: number, signal: AbortSignal) => Promise<Result[]>
  }
}

export default fp(
  async (fastify, { searchUrl, searchTimeout: timeout }: { searchUrl: string, searchTimeout: number }) => {
    const service = serviceAt(searchUrl)

    fastify.mcp.provide('webSearch', async (query, max, signal) => {
      if (query.trim() === '') throw new ToolError('Search error: The query is only whitespace; say what to search for')
      try {
        return await search(service, { query, max, timeout, signal })
      } catch (error) {
        throw error instanceof SearchFailure ? new ToolError(`Search error: ${error.message}`) : error
      }
    })
  },
  { name: 'patchbay-web-search', dependencies: ['patchbay-mcp'] }
)

function serviceAt (address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || url.username !== '' || url.password !== '') {
    throw new Error('option searchUrl must be an http or https URL without a user name and password')
  }
  return url
}
