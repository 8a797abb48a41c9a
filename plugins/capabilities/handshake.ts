import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { shortenClientInfo } from '../../protocol/peer/client-info.js'
import { errors } from '../../protocol/wire/errors.js'
import { inspect } from '../../protocol/wire/json.js'
import type { MessageLimits } from '../../protocol/wire/limits.js'
import type { Peer } from '../../protocol/peer/peer.js'
import type { Mcp } from '../core/mcp.js'
import { GatewayDescription } from './handshake/gateway-description.js'
import type { Section } from './handshake/instructions.js'
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
export default fp(
  async ({ mcp }, { maxCapabilities }: { maxCapabilities: number }) => {
    const { dispatcher } = mcp
    const description = new GatewayDescription(mcp)

    mcp.provide('instructions', { append: sections => description.append(sections) })

    mcp.method(
      'initialize',
      Initialize,
      ({ clientInfo, capabilities = {} }, call) => {
        const { peer, revision } = call
        checkView(mcp, peer)
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
        return mcp.hops.mark(call, description.initializeResult(call))
      },
      OPEN
    )

    mcp.notification('notifications/initialized', Nothing, () => {})
    mcp.notification('initialized', Nothing, () => {})
    mcp.method('ping', Nothing, () => ({}), OPEN)

    mcp.method(
      'server/discover',
      Nothing,
      (_params, call) => {
        const { revision, peer, identity } = call
        checkView(mcp, peer)
        const capabilities = dispatcher.capabilities.of(revision, identity)
        const result = { supportedVersions: versions, capabilities, ...description.instructionsFor(call) }
        return mcp.hops.mark(
          call,
          revision.cached(result, {
            ttlMs: mcp.completeness.isIncompleteFor(call) ? 0 : DISCOVER_TTL,
            cacheScope: description.isPublicFor(call) ? 'public' : 'private'
          })
        )
      },
      OPEN
    )
  },
  {
    name: 'patchbay-handshake',
    dependencies: ['patchbay-mcp', 'patchbay-completeness', 'patchbay-hops', 'patchbay-views']
  }
)

// The upstream may have been removed since the client connected. A credential that is bound to a view sees empty lists
// where that view is gone.
function checkView ({ views }: Mcp, { view, identity }: Pick<Peer, 'view' | 'identity'>): void {
  if (view !== undefined && view !== identity.view && views.get(view) === undefined) throw errors.unknownView(view)
}
