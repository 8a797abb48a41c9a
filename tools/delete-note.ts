import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Call } from '../protocol/dispatch/call.js'
import { shorten, ToolError } from '../protocol/wire/errors.js'
import { tool } from '../protocol/definitions/tool.js'

const Confirmation = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Delete it', description: 'It cannot be brought back' } },
  required: ['confirm']
}

export default async function deleteNote ({ mcp: { tools, notes } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'delete_note',
      title: 'Delete a note',
      scopes: ['notes:write'],
      description: 'Delete a note, after the user has confirmed it',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      input: Type.Object(
        {
          id: Type.String({ description: 'The id of the note' }),
          confirm: Type.Optional(
            Type.Boolean({
              description: 'That the user wants it; counts only where the client cannot ask the user itself'
            })
          )
        },
        { additionalProperties: false }
      ),
      output: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
      text: ({ id, deleted }) => (deleted ? `Note ${id} deleted` : `Note ${id} was kept`),
      run: async ({ id, confirm = false }, call) => {
        const note = (await notes.get(call.principal, id)) ?? missing(id)
        if (!(await isConfirmed(call, id, note.content, confirm))) return { id, deleted: false }
        // Another client may have deleted it while the user was asked.
        return (await notes.delete(call.principal, id)) ? { id, deleted: true } : missing(id)
      }
    })
  )
}

function missing (id: string): never {
  throw new ToolError(`There is no note ${JSON.stringify(shorten(id))}; get_notes lists them`)
}

/** Asks the user if the client supports that; only otherwise may the model confirm in the arguments. */
async function isConfirmed (call: Call, id: string, content: string, confirm: boolean): Promise<boolean> {
  if (call.can('elicitation/create')) {
    const { action, content: given } = await call.elicit('confirm', {
      message: `Delete note ${id}? ${excerpt(content)}`,
      requestedSchema: Confirmation
    })
    return action === 'accept' && given?.confirm === true
  }
  if (!confirm) {
    throw new ToolError(
      `This client cannot ask the user: call delete_note again with "confirm": true once the user has agreed to delete note ${id}`
    )
  }
  return true
}

function excerpt (content: string): string {
  const characters = [...content.replace(/\s+/g, ' ')]
  return characters.length > 80 ? `"${characters.slice(0, 80).join('')}…"` : `"${characters.join('')}"`
}
