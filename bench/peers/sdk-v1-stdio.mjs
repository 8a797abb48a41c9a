import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { addTools, asShape, SERVER } from './tools.mjs'

await addTools(new McpServer(SERVER), asShape).connect(new StdioServerTransport())
