// @modelcontextprotocol/sdk on node:http, a transport and a server for each session.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { addTools, asShape, SERVER } from './tools.mjs'

const transports = new Map()

createServer(async (request, response) => {
  const transport = transports.get(request.headers['mcp-session-id']) ?? await open()
  await transport.handleRequest(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')

async function open () {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: id => { transports.set(id, transport) } })
  transport.onclose = () => transports.delete(transport.sessionId)
  await addTools(new McpServer(SERVER), asShape).connect(transport)
  return transport
}
