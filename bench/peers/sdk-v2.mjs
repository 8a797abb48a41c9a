// @modelcontextprotocol/server under Fastify as its guide shows it; with the argument "session", the transport for revisions that have them.
import { randomUUID } from 'node:crypto'
import { createMcpFastifyApp } from '@modelcontextprotocol/fastify'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { addTools, asSchema, SERVER } from './tools.mjs'

const [port, mode] = process.argv.slice(2)
const build = () => addTools(new McpServer(SERVER), asSchema)
const app = createMcpFastifyApp()
const transports = new Map()

if (mode === 'session') {
  app.all('/mcp', async (request, reply) => {
    const transport = transports.get(request.headers['mcp-session-id']) ?? await open()
    reply.hijack()
    await transport.handleRequest(request.raw, reply.raw, request.body)
  })
} else {
  const handle = toNodeHandler(createMcpHandler(build))
  app.all('/mcp', (request, reply) => handle(request.raw, reply.raw, request.body))
}
await app.listen({ port: Number(port), host: '127.0.0.1' })

async function open () {
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: id => { transports.set(id, transport) } })
  transport.onclose = () => transports.delete(transport.sessionId)
  await build().connect(transport)
  return transport
}
