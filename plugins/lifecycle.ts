import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { errors } from '../protocol/errors.js'
import { Json } from '../protocol/result.js'
import { convert } from '../protocol/revisions/convert.js'
import type { Implementation, Revision } from '../protocol/revisions/revision.js'
import { versions } from '../protocol/revisions/table.js'

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

/** The handshake of the stateful revisions, and discovery in the stateless one. */
export default fp(async ({ mcp }, { maxCapabilities }: { maxCapabilities: number }) => {
  const welcomes = new WeakMap<object, Json>()

  mcp.method('initialize', Initialize, ({ clientInfo, capabilities = {} }, call) => {
    const { peer, revision } = call
    if (JSON.stringify(capabilities).length > maxCapabilities) throw errors.invalidParams(`capabilities are at most ${maxCapabilities} characters of JSON`)
    if (peer.greeted) mcp.reopened(peer)
    peer.open(revision, clientInfo as Implementation | undefined, capabilities as Record<string, unknown>)
    call.conversation = peer.conversation
    return welcome(revision)
  }, OPEN)

  mcp.notification('notifications/initialized', Nothing, () => {})
  mcp.notification('initialized', Nothing, () => {})
  mcp.method('ping', Nothing, () => ({}), OPEN)

  mcp.method('server/discover', Nothing, (_params, { revision }) => revision.cached({
    supportedVersions: versions,
    capabilities: mcp.capabilities(revision),
    ...instructions()
  }, { ttlMs: DISCOVER_TTL, cacheScope: 'public' }), OPEN)

  /** The same for everybody who speaks the revision. */
  function welcome (revision: Revision): Json {
    const capabilities = mcp.capabilities(revision)
    const known = welcomes.get(capabilities)
    if (known !== undefined) return known
    const serverInfo = convert.implementation(mcp.server.info, revision.features)
    const json = new Json(JSON.stringify({ protocolVersion: revision.version, capabilities, serverInfo, ...instructions() }))
    welcomes.set(capabilities, json)
    return json
  }

  function instructions (): { instructions?: string } {
    return mcp.instructions === undefined ? {} : { instructions: mcp.instructions }
  }
}, { name: 'lifecycle', dependencies: ['mcp'] })
