import { Type } from '@sinclair/typebox'
import { tool, type Tool } from '../../../protocol/definitions/tool.js'
import { text, type ContentBlock, type ResourceContents } from '../../../protocol/wire/content.js'
import { errors, type McpError } from '../../../protocol/wire/errors.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Target } from '../../../protocol/dispatch/target.js'
import type { Mcp } from '../../core/mcp.js'

const PURPOSE = 'list_resources'
/** How many resources are listed at once. */
const PAGE = 100

/** Tools by which clients without resources list and read them; a caller gets what the methods for it would give. */
export function resourceTools (mcp: Mcp): Tool[] {
  const { resources, dispatcher: { sealer } } = mcp
  return [
    tool({
      name: 'list_resources',
      title: 'List resources',
      description: 'Lists the resources that can be read with read_resource, and templates for more of them.',
      input: Type.Object(
        { cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before' })) },
        { additionalProperties: false }
      ),
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async ({ cursor }, call) => {
        const purpose = [PURPOSE, call.peer.view ?? '', call.principal ?? ''].join(' ')
        const after = cursor === undefined ? undefined : sealer.open(purpose, cursor)
        if (cursor !== undefined && typeof after !== 'string') throw errors.cursorRefused()
        await mcp.upstreams.firstLists(call)
        const { items, templates, last } = await resources.pageFor(call, after as string | undefined, PAGE)
        return {
          resources: items,
          ...(templates.length > 0 && { resourceTemplates: templates }),
          ...(last !== undefined && { nextCursor: sealer.seal(purpose, last) })
        }
      }
    }) as Tool,
    { ...readResource, targetOf: (input, call) => readingOf(mcp, input, call) }
  ]
}

const readResource = tool({
  name: 'read_resource',
  title: 'Read a resource',
  description: 'Reads a resource by its URI, as list_resources lists it or made from a template.',
  input: Type.Object(
    { uri: Type.String({ description: 'The URI of the resource' }) },
    { additionalProperties: false }
  ),
  annotations: { readOnlyHint: true },
  run: () => []
}) as Tool

/** A read of the resource, with its scopes and its name in the audit log; undefined where the arguments are wrong. */
function readingOf ({ resources }: Mcp, input: Record<string, unknown>, call: Call): Target<Tool> | undefined {
  const { uri } = input
  if (typeof uri !== 'string' || readResource.checkInput(input) !== undefined) return undefined
  const unknown = (): McpError => resources.unknownFor(uri, call)
  const target = resources.targetFor(uri, call)
  const found = target?.item
  return {
    scopes: [],
    ...target,
    unknown,
    item: {
      ...readResource,
      relay: async ({ name: _name, arguments: _arguments, ...params }, call) => {
        if (found === undefined) throw unknown()
        const { contents, ...question } = await resources.readFor(found, { ...params, uri }, call)
        return Array.isArray(contents) ? { content: toBlocks(contents as ResourceContents[]) } : question
      }
    }
  }
}

function toBlocks (contents: ResourceContents[]): ContentBlock[] {
  return contents.map(each => {
    if (typeof each.text === 'string') return text(each.text)
    const { blob, mimeType = '' } = each
    return mimeType.startsWith('image/') && typeof blob === 'string'
      ? { type: 'image', data: blob, mimeType }
      : { type: 'resource', resource: each }
  })
}
