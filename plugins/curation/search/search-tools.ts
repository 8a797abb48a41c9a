import { Type } from '@sinclair/typebox'
import { CHARACTERS_OF_TOKEN, estimateTokens } from '../../../lib/token-estimate.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { tool, type Tool } from '../../../protocol/definitions/tool.js'
import { convert } from '../../../protocol/revisions/convert.js'
import { text, type CallToolResult } from '../../../protocol/wire/content.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { CALL_TOOL, correctForm, indirectCall, wrongForm } from './call-tool.js'
import { signatureOf } from './signature.js'

/** The tools of a view, as far as a caller may use them. */
export interface Findable {
  /** Settles with those that fit a query best. */
  find: (query: string, limit: number | undefined, call: Call) => Promise<Tool[]>
  /** Settles with those of these names; undefined for each that there is not. */
  get: (names: readonly string[], call: Call) => Promise<Array<Tool | undefined>>
}

const MAX_LIMIT = 50
const MAX_NAMES = 8
/** The most bytes of definitions in one answer, unless one alone has more; the others are given as signatures. */
const MAX_DEFINITIONS = 100_000
/** Says where the definitions are that are left out. */
const LEFT_OUT =
  `Signatures only, because an answer has at most ${MAX_DEFINITIONS} bytes of definitions; describe_tools gives these, with fewer names at a time:`

/** The names of the tools by which others are found and called. */
export const SEARCH_TOOLS: ReadonlySet<string> = new Set(['find_tools', 'describe_tools', CALL_TOOL])

type Detail = 'names' | 'signatures' | 'full'

const FOUND = { readOnlyHint: true, openWorldHint: false }

/**
 * Makes `find_tools`, `describe_tools` and `call_tool`. Their texts are in every context of every client of the view:
 * each word of them costs.
 */
export function searchTools (tools: Findable, isReadOnly: boolean): { find: Tool, describe: Tool, call: Tool } {
  return {
    find: { ...findTools(tools), ofSearch: true },
    describe: { ...describeTools(tools), ofSearch: true },
    call: { ...callTool(isReadOnly), ofSearch: true, standsFor: indirectCall }
  }
}

/** The description of `find_tools`, with that of the servers whose tools it finds. */
export const describeFinding = (servers: string): string =>
  [
    'Finds tools by what they do: there are more than are listed.',
    `Gives signatures, in which * marks what is required; call one with ${CALL_TOOL}.`,
    ...(servers === '' ? [] : [`Servers: ${servers}`])
  ].join(' ')

function findTools ({ find }: Findable): Tool {
  return tool({
    name: 'find_tools',
    title: 'Find tools',
    description: describeFinding(''),
    input: Type.Object(
      {
        query: Type.String({ description: 'What the tool should do, in a few words, or its name' }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
        detail: Type.Optional(Type.Unsafe<Detail>({
          type: 'string',
          enum: ['names', 'signatures', 'full'],
          description: 'full gives schemas'
        }))
      },
      { additionalProperties: false }
    ),
    annotations: FOUND,
    run: async ({ query, limit, detail = 'signatures' }, call) => {
      const found = await find(query, limit, call)
      return found.length === 0
        ? result([], 'No tool fits. Try other words for what it does.')
        : describe(found, detail, call)
    }
  }) as Tool
}

function describeTools ({ get }: Findable): Tool {
  return tool({
    name: 'describe_tools',
    title: 'Describe tools',
    description: 'Gives the whole definitions of tools, with their schemas.',
    input: Type.Object(
      { names: Type.Array(Type.String(), { minItems: 1, maxItems: MAX_NAMES }) },
      { additionalProperties: false }
    ),
    annotations: FOUND,
    run: async ({ names }, call) => {
      const all = await get(names, call)
      const found = all.filter(each => each !== undefined)
      const unknown = names.filter((_, at) => all[at] === undefined)
      const sentences = unknown.map(name => text(errors.unknownTool(name).message))
      if (found.length === 0) return { content: sentences, structuredContent: { tools: [] }, isError: true }
      const { content, ...rest } = describe(found, 'full', call)
      return { ...rest, content: [...content, ...sentences] }
    }
  }) as Tool
}

function callTool (isReadOnly: boolean): Tool {
  return tool({
    name: CALL_TOOL,
    title: 'Call a tool',
    description: 'Calls a tool that find_tools found. Arguments are those of its signature.',
    input: Type.Object(
      { name: Type.String(), arguments: Type.Optional(Type.Object({}, { additionalProperties: true })) },
      { additionalProperties: false }
    ),
    annotations: isReadOnly ? { readOnlyHint: true } : { destructiveHint: true, openWorldHint: true },
    explain: correctForm,
    // Calls in the right form never get here: the inner tool is called in its place.
    run: given => { throw wrongForm(given) }
  }) as Tool
}

/** A tool as this caller may know it. */
const definitionFor = (tool: Tool, identity: Identity): Tool['listed'] => tool.listedFor?.(identity) ?? tool.listed

function describe (
  tools: Tool[],
  detail: Detail,
  { identity, revision: { features } }: Call
): CallToolResult {
  if (detail === 'names') return result(tools.map(({ name }) => ({ name })), tools.map(({ name }) => name).join('\n'))
  const sign = (tool: Tool): Signed => {
    const { name } = tool
    const { text: signature, isShortened } = signatureOf(name, definitionFor(tool, identity))
    return { name, signature, ...(isShortened && { isShortened }) }
  }
  if (detail === 'signatures') {
    const signatures = tools.map(sign)
    return result(signatures, signatures.map(({ signature }) => signature).join('\n'))
  }
  const { whole, others } = divide(tools, identity)
  const definitions = whole.map(tool => convert.definition(definitionFor(tool, identity), features))
  const signatures = others.map(sign)
  return result([...definitions, ...signatures], [
    ...definitions.map(definition => JSON.stringify(definition)),
    ...(others.length === 0 ? [] : [LEFT_OUT]),
    ...signatures.map(({ signature }) => signature)
  ].join('\n'))
}

interface Signed { name: string, signature: string, isShortened?: boolean }

/** Divides tools into those that are given whole, the first in any case, and the others. */
function divide (tools: Tool[], identity: Identity): { whole: Tool[], others: Tool[] } {
  const [whole, others]: [Tool[], Tool[]] = [[], []]
  let left = MAX_DEFINITIONS
  for (const tool of tools) {
    const size = sizeOf(definitionFor(tool, identity), left)
    const fits = whole.length === 0 || size <= left
    if (fits) left -= size
    ;(fits ? whole : others).push(tool)
  }
  return { whole, others }
}

/** The bytes of a definition as JSON; at least so many where there are more than `most`. */
function sizeOf (definition: Tool['listed'], most: number): number {
  const characters = (estimateTokens(definition) - 1) * CHARACTERS_OF_TOKEN
  return characters > most ? characters : Buffer.byteLength(JSON.stringify(definition))
}

const result = (tools: object[], shown: string): CallToolResult => ({
  content: [text(shown)],
  structuredContent: { tools }
})
