import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import fastify from 'fastify'
import { Sessions, streamableHttp } from 'fastify-mcp'
import { addTools, asShape, SERVER } from './tools.mjs'

const app = fastify({ bodyLimit: 4 * 1024 * 1024 })
app.register(streamableHttp, {
  stateful: true,
  mcpEndpoint: '/mcp',
  sessions: new Sessions(),
  createServer: () => addTools(new McpServer(SERVER), asShape).server
})
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
