import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { shortenClientInfo } from '../../protocol/peer/client-info.js'
import { errors } from '../../protocol/wire/errors.js'
import { inspect } from '../../protocol/wire/json.js'
import type { MessageLimits } from '../../protocol/wire/limits.js'
import { PreparedResult } from '../../protocol/wire/result.js'
import { convert } from '../../protocol/revisions/convert.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Identity } from '../../protocol/wire/identity.js'
import type { Mcp } from '../core/mcp.js'
import type { View } from '../core/views.js'
import { Instructions, maySee, type Section } from './handshake/instructions.js'
import { versions } from '../../protocol/revisions/table.js'

declare module '../core/mcp.js' {
  interface Mcp {
    instructions: {
      /** Sets what follows the operator's own instructions, each section for the callers who may see it. */
      append: (sections: readonly Section[]) => void
    }
  }
}

// Lenient on purpose: clients of the first years leave out any of these.
const Initialize = Type.Object({
  protocolVersion: Type.Optional(Type.String()),
  clientInfo: Type.Optional(Type.Object({})),
  capabilities: Type.Optional(Type.Object({}))
})

const Nothing = Type.Object({})

/** Every caller may use these methods. */
const OPEN = { scopes: [] }

const DISCOVER_TTL = 60_000

/** One value is allowed for this many characters of `maxCapabilities`: in memory a value takes more than its text. */
const PER_VALUE = 64
/** The values that are allowed however low the limit is. */
const FEWEST = 16

const mostValues = (maxCapabilities: number): number => Math.max(FEWEST, Math.ceil(maxCapabilities / PER_VALUE))

const exceeds = (capabilities: object, max: number, limits: MessageLimits): boolean =>
  JSON.stringify(capabilities).length > max || inspect(capabilities, limits) > mostValues(max)

/** The handshake of the stateful revisions, and discovery in the stateless one. */
export default fp(async ({ mcp }, { maxCapabilities }: { maxCapabilities: number }) => {
  const { dispatcher } = mcp
  let initializeResults = new WeakMap<object, PreparedResult>()
  const instructions = new Instructions(dispatcher.server.instructions)

  mcp.provide('instructions', {
    append: sections => {
      instructions.append(sections)
      initializeResults = new WeakMap()
    }
  })

  mcp.method('initialize', Initialize, ({ clientInfo, capabilities = {} }, call) => {
    const { peer, revision } = call
    checkView(mcp, peer.view)
    if (exceeds(capabilities, maxCapabilities, dispatcher.limits)) {
      throw errors.invalidParams(
        `capabilities are at most ${maxCapabilities} characters of JSON, and ${mostValues(maxCapabilities)} values`
      )
    }
    if (peer.initialized) dispatcher.observers.reinitialize.notify(peer)
    peer.open(
      revision,
      shortenClientInfo(clientInfo as Record<string, unknown> | undefined),
      capabilities as Record<string, unknown>
    )
    call.conversation = peer.conversation
    return mcp.hops.mark(
      call,
      peer.view === undefined && instructions.areAllFor(call.identity)
        ? initializeResult(call)
        : new PreparedResult(initializeText(call))
    )
  }, OPEN)

  mcp.notification('notifications/initialized', Nothing, () => {})
  mcp.notification('initialized', Nothing, () => {})
  mcp.method('ping', Nothing, () => ({}), OPEN)

  mcp.method('server/discover', Nothing, (_params, call) => {
    const { revision, peer, identity } = call
    checkView(mcp, peer.view)
    const capabilities = dispatcher.capabilities.of(revision, identity)
    const isPublic =
      identity.scopes === 'all' || (peer.view === undefined && !instructions.differ && !dispatcher.capabilities.differ)
    return mcp.hops.mark(
      call,
      revision.cached(
        { supportedVersions: versions, capabilities, ...instructionsFor(call) },
        {
          ttlMs: mcp.completeness.isIncompleteFor(call) ? 0 : DISCOVER_TTL,
          cacheScope: isPublic ? 'public' : 'private'
        }
      )
    )
  }, OPEN)

  /** Encoded once for each revision; for clients of a view, and callers who may not see all, for each client. */
  function initializeResult (call: Call): PreparedResult {
    const { revision, identity } = call
    const capabilities = dispatcher.capabilities.of(revision, identity)
    const known = initializeResults.get(capabilities)
    if (known !== undefined) return known
    const json = new PreparedResult(initializeText(call))
    initializeResults.set(capabilities, json)
    return json
  }

  function initializeText (call: Call): string {
    const { revision, identity } = call
    const serverInfo = convert.implementation(dispatcher.server.info, revision.features)
    return JSON.stringify({
      protocolVersion: revision.version,
      capabilities: dispatcher.capabilities.of(revision, identity),
      serverInfo,
      ...instructionsFor(call)
    })
  }

  function instructionsFor ({ identity, peer: { view } }: Call): { instructions?: string } {
    const text = view === undefined ? instructions.textFor(identity) : instructionsOf(mcp.views.get(view), identity)
    return text === undefined || text === '' ? {} : { instructions: text }
  }
}, { name: 'patchbay-handshake', dependencies: ['patchbay-mcp', 'patchbay-completeness', 'patchbay-hops', 'patchbay-views'] })

// The upstream may have been removed since the client connected.
function checkView ({ views }: Mcp, view: string | undefined): void {
  if (view !== undefined && views.get(view) === undefined) throw errors.unknownView(view)
}

const instructionsOf = (view: View | undefined, identity: Identity): string | undefined =>
  view !== undefined && maySee(identity, view) ? view.instructions : undefined
