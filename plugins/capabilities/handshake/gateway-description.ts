import type { Call } from '../../../protocol/dispatch/call.js'
import { convert } from '../../../protocol/revisions/convert.js'
import { hasAllScopes, type Identity } from '../../../protocol/wire/identity.js'
import { PreparedResult } from '../../../protocol/wire/result.js'
import type { Mcp } from '../../core/mcp.js'
import type { View } from '../../core/views.js'
import { Instructions, maySee, type Section } from './instructions.js'

/** The gateway as it describes itself to clients: its name, capabilities and instructions. */
export class GatewayDescription {
  readonly #mcp: Mcp
  readonly #instructions: Instructions
  #initializeResults = new WeakMap<object, PreparedResult>()

  constructor (mcp: Mcp) {
    this.#mcp = mcp
    this.#instructions = new Instructions(mcp.dispatcher.server.instructions)
  }

  /** Sets what follows the operator's own instructions. */
  append (sections: readonly Section[]): void {
    this.#instructions.append(sections)
    this.#initializeResults = new WeakMap()
  }

  /** Encoded once for each revision; for clients of a view, and callers who may not see all, for each client. */
  initializeResult (call: Call): PreparedResult {
    const { revision, identity, peer } = call
    if (peer.view !== undefined || !this.#instructions.areAllFor(identity)) return this.#encode(call)
    const capabilities = this.#mcp.dispatcher.capabilities.of(revision, identity)
    const known = this.#initializeResults.get(capabilities)
    if (known !== undefined) return known
    const result = this.#encode(call)
    this.#initializeResults.set(capabilities, result)
    return result
  }

  instructionsFor ({ identity, peer: { view } }: Call): { instructions?: string } {
    const text = view === undefined
      ? this.#instructions.textFor(identity)
      : instructionsOf(this.#mcp.views.get(view), identity, this.#instructions)
    return text === undefined || text === '' ? {} : { instructions: text }
  }

  /** True when every caller gets the description that this one gets. */
  isPublicFor ({ identity, peer: { view } }: Call): boolean {
    if (hasAllScopes(identity)) return true
    return view === undefined && !this.#instructions.differ && !this.#mcp.dispatcher.capabilities.differ
  }

  #encode (call: Call): PreparedResult {
    const { revision, identity } = call
    const { server, capabilities } = this.#mcp.dispatcher
    return new PreparedResult(JSON.stringify({
      protocolVersion: revision.version,
      capabilities: capabilities.of(revision, identity),
      serverInfo: convert.implementation(server.info, revision.features),
      ...this.instructionsFor(call)
    }))
  }
}

/**
 * Finds those of the view, or else, where the operator chose it, those of the gateway and the upstreams that are in it.
 */
function instructionsOf (view: View | undefined, identity: Identity, all: Instructions): string | undefined {
  if (view === undefined || !maySee(identity, view)) return undefined
  const { selection } = view
  return view.instructions ?? (selection && all.textFor(identity, upstream => selection.has(upstream)))
}
