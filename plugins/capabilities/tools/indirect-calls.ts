import type { Collection } from '../../../protocol/definitions/collection.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Caller } from '../../../protocol/dispatch/methods.js'
import { givenMirrors, type Mirror } from '../../../protocol/http/mirrored-headers.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Mcp } from '../../core/mcp.js'

/** The calls that are made by way of another tool, in views that have one for it. */
export class IndirectCalls {
  readonly #scopes: Mcp['scopes']
  readonly #params = new WeakSet<Params>()

  constructor (scopes: Mcp['scopes']) {
    this.#scopes = scopes
  }

  /** The params of the call that is meant, where the caller may use the tool that stands for it. */
  meantBy (params: Params, tools: Collection<Tool>, caller: Caller): Params {
    const tool = typeof params.name === 'string' ? tools.get(params.name) : undefined
    const meant = tool?.standsFor?.(params)
    if (tool === undefined || meant === undefined || !this.#scopes.allows(caller, 'tools', tool.name, tool)) return params
    this.#params.add(meant)
    return meant
  }

  /**
   * The arguments that the headers of a call have to repeat. By way of another tool a client does not know of them:
   * those that it sends have to agree.
   */
  mirrorsOf ({ mirrors }: Tool, { params, peer: { view, headers = {} } }: Call): Mirror[] {
    return view !== undefined && this.#params.has(params) ? givenMirrors(headers, mirrors) : mirrors
  }
}
