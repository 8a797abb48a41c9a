import type { FastifyInstance } from 'fastify'
import { keyOf, titleOf, type Definition } from './definitions.js'

/** The file of each definition by its title, for each gateway. */
const sources = new WeakMap<object, Map<string, string>>()

/** Throws when another definition has the name or URI, with the file it is in. `former` are those that this one may replace. */
export function checkUnique ({ mcp }: FastifyInstance, item: Definition, former: readonly Definition[] = []): void {
  const present = item.kind === 'tool' ? mcp.tools.get(item.name) : item.kind === 'resource' ? mcp.resources.get(item.uri) : mcp.prompts.get(keyOf(item))
  if (present === undefined || former.includes(present)) return
  const file = sources.get(mcp)?.get(titleOf(item))
  throw new Error(`there is a ${titleOf(item)} ${file === undefined ? '' : `in ${file} `}already; choose another ${item.kind === 'resource' ? 'uri' : 'name'}`)
}

/** Notes the file that a definition is in. */
export function noteSource ({ mcp }: FastifyInstance, item: Definition, file: string): void {
  const known = sources.get(mcp) ?? new Map<string, string>()
  sources.set(mcp, known.set(titleOf(item), file))
}
