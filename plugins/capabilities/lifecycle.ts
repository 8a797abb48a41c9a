import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { shortenClientInfo } from '../../protocol/peer/client-info.js'
import { errors } from '../../protocol/wire/errors.js'
import { inspect } from '../../protocol/wire/json.js'
import type { MessageLimits } from '../../protocol/wire/limits.js'
import { PreparedResult } from '../../protocol/wire/result.js'
import { convert } from '../../protocol/revisions/convert.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import { versions } from '../../protocol/revisions/table.js'

// Lenient on purpose: clients of the first years leave out any of these.
const Initialize = Type.Object({
  protocolVersion: Type.Optional(Type.String()),
  clientInfo: Type.Optional(Type.Object({})),
  capabilities: Type.Optional(Type.Object({}))
})

const Nothing = Type.Object({})

/** Whoever was let in may ask. */
const OPEN = { scopes: [] }

const DISCOVER_TTL = 60_000

/** How many characters there are for each value of the capabilities: they are kept, and a value takes more than it takes to write it. */
const PER_VALUE = 64
/** How many values are allowed however low the limit is. */
const FEWEST = 16

const most = (maxCapabilities: number): number => Math.max(FEWEST, Math.ceil(maxCapabilities / PER_VALUE))

const isTooMuch = (capabilities: object, max: number, limits: MessageLimits): boolean => JSON.stringify(capabilities).length > max || inspect(capabilities, limits) > most(max)

/** The handshake of the stateful revisions, and discovery in the stateless one. */
export default fp(async ({ mcp }, { maxCapabilities }: { maxCapabilities: number }) => {
  const welcomes = new WeakMap<object, PreparedResult>()

  mcp.method('initialize', Initialize, ({ clientInfo, capabilities = {} }, call) => {
    const { peer, revision } = call
    if (isTooMuch(capabilities, maxCapabilities, mcp.dispatcher.limits)) throw errors.invalidParams(`capabilities are at most ${maxCapabilities} characters of JSON, and ${most(maxCapabilities)} values`)
    if (peer.initialized) mcp.dispatcher.observers.reinitialize.notify(peer)
    peer.open(revision, shortenClientInfo(clientInfo as Record<string, unknown> | undefined), capabilities as Record<string, unknown>)
    call.conversation = peer.conversation
    return welcome(revision)
  }, OPEN)

  mcp.notification('notifications/initialized', Nothing, () => {})
  mcp.notification('initialized', Nothing, () => {})
  mcp.method('ping', Nothing, () => ({}), OPEN)

  mcp.method('server/discover', Nothing, (_params, { revision }) => revision.cached({
    supportedVersions: versions,
    capabilities: mcp.dispatcher.capabilities.of(revision),
    ...instructions()
  }, { ttlMs: DISCOVER_TTL, cacheScope: 'public' }), OPEN)

  /** The same for everybody who speaks the revision. */
  function welcome (revision: Revision): PreparedResult {
    const capabilities = mcp.dispatcher.capabilities.of(revision)
    const known = welcomes.get(capabilities)
    if (known !== undefined) return known
    const serverInfo = convert.implementation(mcp.dispatcher.server.info, revision.features)
    const json = new PreparedResult(JSON.stringify({ protocolVersion: revision.version, capabilities, serverInfo, ...instructions() }))
    welcomes.set(capabilities, json)
    return json
  }

  function instructions (): { instructions?: string } {
    return mcp.dispatcher.server.instructions === undefined ? {} : { instructions: mcp.dispatcher.server.instructions }
  }
}, { name: 'patchbay-lifecycle', dependencies: ['patchbay-mcp'] })
