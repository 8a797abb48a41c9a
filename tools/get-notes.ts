import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../protocol/definitions/tool.js'

const Note = Type.Object({
  id: Type.String(),
  content: Type.String(),
  tags: Type.Array(Type.String()),
  created: Type.String()
})

export default async function getNotes ({ mcp: { tools, notes } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'get_notes',
      title: 'Notes',
      scopes: ['notes:read'],
      description: 'Retrieve stored notes',
      annotations: { readOnlyHint: true, openWorldHint: false },
      input: Type.Object(
        {
          tags: Type.Optional(
            Type.Array(Type.String(), { maxItems: 32, description: 'Filter by tags: notes that have any of them' })
          ),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum notes to return (default: 100)' })
          )
        },
        { additionalProperties: false }
      ),
      output: Type.Object({
        notes: Type.Array(Note),
        more: Type.Boolean({ description: 'Whether there are older ones' })
      }),
      text: ({ notes }) => (notes.length === 0 ? 'There are no such notes' : notes.map(showNote).join('\n\n')),
      run: async ({ tags = [], limit = 100 }, call) => await notes.newest(call.principal, tags, limit)
    })
  )
}

function showNote ({ id, content, tags, created }: Static<typeof Note>): string {
  return `${id}. ${content}\n   (${[created, ...tags].join(', ')})`
}
