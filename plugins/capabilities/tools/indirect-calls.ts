import type { Collection } from '../../../protocol/definitions/collection.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Caller } from '../../../protocol/dispatch/methods.js'
import type { Target, Via } from '../../../protocol/dispatch/target.js'
import { givenMirrors, type Mirror } from '../../../protocol/http/mirrored-headers.js'
import { grants } from '../../../protocol/wire/identity.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Mcp } from '../../core/mcp.js'

const viaOf = (tool: Tool, args: unknown): Via =>
  ({ kind: 'tools', key: tool.name, item: tool, arguments: isObject(args) ? args : {} })

/** The calls that are made by way of another tool, in views that have one for it. */
export class IndirectCalls {
  readonly #scopes: Mcp['scopes']
  readonly #vias = new WeakMap<Params, Via>()

  constructor (scopes: Mcp['scopes']) {
    this.#scopes = scopes
  }

  /** The params of the call that is meant, where the caller may use the tool that stands for it. */
  meantBy (params: Params, tools: Collection<Tool>, caller: Caller): Params {
    const tool = typeof params.name === 'string' ? tools.get(params.name) : undefined
    const meant = tool?.standsFor?.(params)
    if (tool === undefined || meant === undefined || !this.#scopes.allows(caller, 'tools', tool.name, tool)) return params
    this.#vias.set(meant, viaOf(tool, params.arguments))
    return meant
  }

  /** The thing that a call is about: the tool, or what it stands for where the caller may use it. */
  targetOf (target: Target<Tool> | undefined, call: Call): Target<Tool> | undefined {
    const { item, scopes = [] } = target ?? {}
    const { params, params: { arguments: args = {} } } = call
    const outer = call.peer.view === undefined ? undefined : this.#vias.get(params)
    if (item === undefined || (outer === undefined && item.targetOf === undefined)) return target
    const found = isObject(args) && grants(call.identity, scopes) ? item.targetOf?.(args, call) : undefined
    const via = [...(outer === undefined ? [] : [outer]), ...(found === undefined ? [] : [viaOf(item, args)])]
    return { scopes, ...(found ?? target), via }
  }

  /**
   * The arguments that the headers of a call have to repeat. By way of another tool a client does not know of them:
   * those that it sends have to agree.
   */
  mirrorsOf ({ mirrors }: Tool, { params, peer: { view, headers = {} } }: Call): Mirror[] {
    return view !== undefined && this.#vias.has(params) ? givenMirrors(headers, mirrors) : mirrors
  }
}
