import { acceptedContent, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const NAMED = { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] }

// A server of the second generation of the official SDK, which speaks both eras, on standard input and output.
serveStdio(() => {
  const server = new McpServer({ name: 'sdk-v2', version: '1.0.0' }, { instructions: 'Ask politely.' })
  server.registerTool('greet', { description: 'Greets', inputSchema: fromJsonSchema(NAMED) }, async input => ({
    content: [{ type: 'text', text: `Hello, ${(input as { name: string }).name}!` }]
  }))
  server.registerTool('ask', { description: 'Asks for a name' }, async ({ mcpReq }) => {
    const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'who')
    if (answer === undefined) {
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: NAMED }) }
      })
    }
    return { content: [{ type: 'text', text: `Hello, ${answer.name}!` }] }
  })
  server.registerResource('motd', 'motd://today', { description: 'Of the day' }, async uri => ({
    contents: [{ uri: uri.href, text: 'Be kind.' }]
  }))
  server.registerPrompt('poem', { description: 'Writes a poem' }, async () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Write a poem.' } }]
  }))
  return server
})
