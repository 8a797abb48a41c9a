import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { errors } from '../protocol/wire/errors.js'
import { tool } from '../protocol/definitions/tool.js'
import { characters, MAX_TEXT } from '../system/clipboard/clipboard.js'

export default async function setClipboard (fastify: FastifyInstance): Promise<void> {
  if (!fastify.mcp.clipboard.offered) return
  fastify.mcp.tools.add(tool({
    name: 'set_clipboard',
    title: 'Write the clipboard',
    scopes: ['clipboard'],
    description: 'Set the system clipboard to the provided text content',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: Type.Object({
      text: Type.String({ description: 'The text content to copy to the clipboard', maxLength: MAX_TEXT })
    }, { additionalProperties: false }),
    output: Type.Object({ copied: Type.Integer({ description: 'How many characters' }) }),
    explain,
    text: () => 'Text copied to clipboard',
    run: async ({ text }, call) => {
      fastify.mcp.clipboard.admit(call)
      checkFaithful(text)
      await fastify.mcp.clipboard.write(text, call.signal)
      return { copied: characters(text) }
    }
  }))
}

function explain (given: Record<string, unknown>, why: string): string {
  if (typeof given.text !== 'string') return "set_clipboard requires 'text' parameter"
  const alone = Object.keys(given).length === 1
  return alone ? `Text content exceeds maximum size of ${MAX_TEXT} characters` : `arguments of set_clipboard: ${why}`
}

/** A clipboard would cut the text at a NUL, and replace a lone surrogate. */
function checkFaithful (text: string): void {
  if (text.includes('\0')) {
    throw errors.wrongArguments('text contains a NUL character (U+0000), which a clipboard cannot hold')
  }
  if (/\p{Surrogate}/u.test(text)) {
    throw errors.wrongArguments(
      'text contains half of a surrogate pair, which is no character; send well-formed Unicode'
    )
  }
}
