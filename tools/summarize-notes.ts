import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { ToolError } from '../protocol/wire/errors.js'
import { tool } from '../protocol/definitions/tool.js'

const TASK = 'You summarize notes. Answer with the summary alone, in the language of the notes.'

export default async function summarizeNotes ({ mcp: { tools, notes } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'summarize_notes',
      title: 'Summarize notes',
      scopes: ['notes:read'],
      description: 'Summarize the newest notes with the model of the client (needs its sampling capability)',
      annotations: { readOnlyHint: true, openWorldHint: true },
      input: Type.Object(
        {
          tags: Type.Optional(
            Type.Array(Type.String(), { maxItems: 32, description: 'Only notes that have any of these tags' })
          ),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'How many notes (default: 20)' })),
          max_tokens: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 10_000, description: 'How long the summary may be (default: 500)' })
          )
        },
        { additionalProperties: false }
      ),
      output: Type.Object({ summary: Type.String(), model: Type.String(), notes: Type.Integer() }),
      text: ({ summary }) => summary,
      run: async ({ tags = [], limit = 20, max_tokens: maxTokens = 500 }, call) => {
        const { notes: found } = await notes.newest(call.principal, tags, limit)
        // The number of notes in the prompt, even if notes changed while the client was asked.
        const count = await call.once('count', () => found.length)
        if (count === 0) throw new ToolError('There are no notes to summarize')
        const text = `Summarize these notes:\n\n${found.map(({ id, content }) => `Note ${id}:\n${content}`).join('\n\n')}`
        const { content, model } = await call.sample('summary', {
          messages: [{ role: 'user', content: { type: 'text', text } }],
          systemPrompt: TASK,
          maxTokens
        })
        return { summary: textOf(content), model, notes: count }
      }
    })
  )
}

function textOf (content: unknown): string {
  const blocks = (Array.isArray(content) ? content : [content]) as Array<{ text?: unknown }>
  const texts = blocks.flatMap(({ text }) => typeof text === 'string' ? [text] : [])
  if (texts.length === 0) throw new ToolError('The model of the client answered without text')
  return texts.join('\n')
}
