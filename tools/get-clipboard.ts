import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../protocol/definitions/tool.js'

export default async function getClipboard (fastify: FastifyInstance): Promise<void> {
  if (!fastify.mcp.clipboard.offered) return
  fastify.mcp.tools.add(tool({
    name: 'get_clipboard',
    title: 'Read the clipboard',
    scopes: ['clipboard'],
    description: 'Get the current text content from the system clipboard',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: Type.Object({}, { additionalProperties: false, required: [] }),
    output: Type.Object({ text: Type.String() }),
    text: ({ text }) => text,
    run: async (_input, call) => {
      fastify.mcp.clipboard.admit(call)
      return { text: await fastify.mcp.clipboard.read(call.signal) }
    }
  }))
}
