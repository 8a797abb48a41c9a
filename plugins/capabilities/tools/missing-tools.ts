import type { Collection } from '../../../protocol/definitions/collection.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Target } from '../../../protocol/dispatch/target.js'
import { errors, type McpError } from '../../../protocol/wire/errors.js'
import type { Mcp } from '../../core/mcp.js'
import type { View } from '../../core/views.js'

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

  /** The error for a name that nothing has; `tools` are those of the caller's view. */
  errorOf (name: string, call: Call, tools: Collection<Tool>): McpError {
    return errors.unknownTool(name, this.#mcp.scopes.suggest(name, 'tools', tools, call))
  }

  /** The target of a call of a tool that is left out, where that would be in the view; undefined for other names. */
  targetOf (name: unknown, call: Call): Target<Tool> | undefined {
    // A rule that the call has by now hides a tool of that name.
    if (call.ruled !== undefined) return undefined
    const { scopes } = this.#mcp
    const missing = typeof name === 'string' ? this.explain(name, call) : undefined
    if (typeof name !== 'string' || missing === undefined || !this.#isInView(missing, call)) return undefined
    const target = scopes.targetFor('tools', name, { ...missing, viewScopes: this.#viewOf(call)?.scopes }, call)
    if (target === undefined) return undefined
    const { upstream, why } = missing
    const leftOut = (): McpError =>
      errors.unknownTool(name, `; the upstream server ${upstream} has it, and it is left out: ${why}`)
    return { ...target, item: undefined, leftOut }
  }

  /** True for a tool that would be in the view of the caller: others are unknown there. */
  #isInView ({ listed = {}, ...missing }: Missing, call: Call): boolean {
    const { selection } = this.#viewOf(call) ?? {}
    return selection === undefined || selection.includes('tools', { ...missing, listed })
  }

  #viewOf ({ peer: { view } }: Call): View | undefined {
    return view === undefined ? undefined : this.#mcp.views.get(view)
  }
}
