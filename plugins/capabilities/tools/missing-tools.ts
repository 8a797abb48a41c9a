import type { Collection } from '../../../protocol/definitions/collection.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { errors, type McpError } from '../../../protocol/wire/errors.js'
import type { Mcp } from '../../core/mcp.js'

/** A tool that clients do not get, and why. */
type Missing = Pick<Tool, 'upstream' | 'accessName' | 'scopes'> & {
  readonly listed?: Tool['listed']
  readonly why: string
}

/** Finds a tool which an upstream has and clients do not get. */
export type ExplainMissing = (name: string, call: Call) => Missing | undefined

/** Finds the error for the name of a tool that a caller does not have. */
export class MissingTools {
  readonly #mcp: Pick<Mcp, 'scopes' | 'views'>
  explain: ExplainMissing = () => undefined

  constructor (mcp: Pick<Mcp, 'scopes' | 'views'>) {
    this.#mcp = mcp
  }

  /** `tools` are those of the caller's view. */
  errorOf (name: string, call: Call, tools: Collection<Tool>): McpError {
    const { scopes } = this.#mcp
    const missing = this.explain(name, call)
    if (missing !== undefined && this.#isInView(missing, call) && scopes.allows(call, 'tools', name, missing)) {
      return errors.unknownTool(
        name,
        `; the upstream server ${missing.upstream} has it, and it is left out: ${missing.why}`
      )
    }
    return errors.unknownTool(name, scopes.suggest(name, 'tools', tools, call))
  }

  /** True for a tool that would be in the view of the caller: others are unknown there. */
  #isInView ({ listed = {}, ...missing }: Missing, { peer: { view } }: Call): boolean {
    const { selection } = (view === undefined ? undefined : this.#mcp.views.get(view)) ?? {}
    return selection === undefined || selection.includes('tools', { ...missing, listed })
  }
}
