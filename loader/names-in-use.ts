import { existsSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { keyOf, titleOf, type Definition } from './definitions.js'
import { checkoutSource } from './checkout.js'

/** The file of each definition by its title, for each gateway. */
const sources = new WeakMap<object, Map<string, string>>()

/**
 * Throws when another definition has the name or URI, with the file it is in. `former` are those that this one may
 * replace.
 */
export function checkUnique ({ mcp }: FastifyInstance, item: Definition, former: readonly Definition[] = []): void {
  const present =
    item.kind === 'tool'
      ? mcp.tools.get(item.name)
      : item.kind === 'resource'
        ? mcp.resources.get(item.uri)
        : mcp.prompts.get(keyOf(item))
  if (present === undefined || former.includes(present)) return
  const file = sources.get(mcp)?.get(titleOf(item))
  throw new Error(
    `there is a ${titleOf(item)}${file === undefined ? '' : ` in ${checkoutSource(file) ?? file}`}${adviceFor(item, file)}`
  )
}

/** Notes the file that a definition is in. */
export function noteSource ({ mcp }: FastifyInstance, item: Definition, file: string): void {
  const known = sources.get(mcp) ?? new Map<string, string>()
  sources.set(mcp, known.set(titleOf(item), file))
}

/** The files that the definitions of a gateway are in. */
export function sourceFiles ({ mcp }: FastifyInstance): string[] {
  return [...new Set(sources.get(mcp)?.values())]
}

function adviceFor ({ kind }: Definition, file: string | undefined): string {
  const source = file === undefined ? undefined : checkoutSource(file)
  if (source !== undefined && !existsSync(source)) return ', which was deleted: run npm run build'
  return ` already; choose another ${kind === 'resource' ? 'uri' : 'name'}`
}
