import type { FastifyInstance } from 'fastify'
import { McpError } from '../../../app.js'

/** Makes a gateway one of the stateful era: it knows nothing of discovery. */
export default async function oldGateway ({ mcp }: FastifyInstance): Promise<void> {
  mcp.use(async (call, next) => {
    if (call.method === 'server/discover') throw new McpError(-32601, 'Method not found')
    return await next()
  })
}
