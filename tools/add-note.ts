import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../protocol/definitions/tool.js'

export default async function addNote ({ mcp: { tools, notes } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'add_note',
      title: 'Add a note',
      scopes: ['notes:write'],
      description: 'Add a note to the server',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      input: Type.Object(
        {
          content: Type.String({ minLength: 1, maxLength: notes.maxLength, description: 'Note content' }),
          tags: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
              maxItems: 32,
              uniqueItems: true,
              description: 'Tags for the note'
            })
          )
        },
        { additionalProperties: false }
      ),
      output: Type.Object({ id: Type.String(), uri: Type.String(), created: Type.String() }),
      text: ({ id }) => `Note ${id} added`,
      run: async ({ content, tags = [] }, call) => {
        const { id, created } = await notes.add(call.principal, content, tags)
        return { id, uri: `note:///${id}`, created }
      }
    })
  )
}
