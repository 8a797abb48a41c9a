import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../protocol/definitions/tool.js'

const Found = Type.Object({
  query: Type.String(),
  results: Type.Array(Type.Object({ title: Type.String(), url: Type.String(), snippet: Type.String() }))
})

export default async function webSearch (fastify: FastifyInstance): Promise<void> {
  fastify.mcp.tools.add(
    tool({
      name: 'web_search',
      title: 'Web search',
      scopes: ['search'],
      description: 'Search the web using DuckDuckGo',
      annotations: { readOnlyHint: true, openWorldHint: true },
      input: Type.Object(
        {
          query: Type.String({ minLength: 1, maxLength: 500, description: 'The search query' }),
          max_results: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 20, description: 'Maximum results (default: 5)' })
          )
        },
        { additionalProperties: false }
      ),
      output: Found,
      text: inWords,
      run: async ({ query, max_results: max = 5 }, call) => ({
        query,
        results: await fastify.mcp.webSearch(query, max, call.signal)
      })
    })
  )
}

function inWords ({ query, results }: Static<typeof Found>): string {
  if (results.length === 0) return `No results found for: ${query}`
  const entries = results.map(({ title, url, snippet }, index) =>
    [`${index + 1}. ${title}`, url, snippet].filter(line => line !== '').join('\n   ')
  )
  return [`Search results for: ${query}`, ...entries].join('\n\n')
}
