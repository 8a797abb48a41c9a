import { Type } from '@sinclair/typebox'
import { resource, type Resource } from '../../../protocol/definitions/resource.js'
import { tool, type Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { text } from '../../../protocol/wire/content.js'
import { errors, ToolError } from '../../../protocol/wire/errors.js'
import { RESULT_URI, type KeptResults, type Part, type Reader } from './kept-results.js'

export const READ_RESULT = 'read_result'

/** Serves kept results as resources. A caller finds its own, and any other is unknown. */
export function resultTemplate (kept: KeptResults): Resource {
  return resource({
    uri: `${RESULT_URI}{id}{?offset,length}`,
    name: 'result',
    title: 'Whole result',
    description:
      'The whole of a result that was too long to be sent, or `length` characters of it from `offset` on',
    // The caller of the tool reads its results, whatever scopes the tool asked for; these are checked with the owner.
    scopes: [],
    read: async ({ id, offset, length }, call, uri) => {
      const range = { offset: numberIn(offset, 'offset') ?? 0, length: numberIn(length, 'length'), isWhole: true }
      const part = await kept.read(id, readerOf(call), range)
      return part === undefined ? undefined : [{ uri, mimeType: part.mimeType, text: part.text }]
    }
  })
}

/** The tool by which clients without resources read kept results. */
export function readResultTool (kept: KeptResults): Tool {
  const definition = tool({
    name: READ_RESULT,
    title: 'Read a result',
    description:
      'Reads a part of a result that was too long to be sent whole. The id is in the result that was shortened.',
    input: Type.Object(
      {
        id: Type.String({ maxLength: 128, description: 'The id of the result' }),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: 'The first character, 0 when absent' })),
        length: Type.Optional(Type.Integer({ minimum: 1, description: 'How many characters to read' }))
      },
      { additionalProperties: false }
    ),
    annotations: { readOnlyHint: true, openWorldHint: false },
    scopes: [],
    run: async ({ id: given, offset = 0, length }, call) => {
      const id = given.startsWith(RESULT_URI) ? given.slice(RESULT_URI.length) : given
      const part = await kept.read(id, readerOf(call), { offset, length })
      if (part === undefined) throw new ToolError(`There is no result "${id}", or it has expired`)
      return [text(part.text), text(placeOf(part))]
    }
  })
  return { ...definition as Tool, hasWholeResults: true }
}

const readerOf = ({ identity, peer: { view } }: Call): Reader => ({ identity, view })

function placeOf ({ from, to, total }: Part): string {
  const next = to < total ? `Go on with offset ${to}.` : 'This is the end.'
  return `[Characters ${from} to ${to} of ${total}. ${next}]`
}

function numberIn (value: string | undefined, name: 'offset' | 'length'): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,15}$/.test(value) || (name === 'length' && Number(value) === 0)) {
    throw errors.invalidParams(`${name} of ${RESULT_URI} must be a whole number of characters`)
  }
  return Number(value)
}
