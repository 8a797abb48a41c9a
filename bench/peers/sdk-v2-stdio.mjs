import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { addTools, asSchema, SERVER } from './tools.mjs'

serveStdio(() => addTools(new McpServer(SERVER), asSchema))
