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

declare module '../core/mcp.js' {
  interface Mcp {
    instructions: {
      /** Sets what clients are told after the operator's own instructions. */
      append: (text: string | undefined) => void
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
  let appended: string | undefined

  mcp.provide('instructions', {
    append: text => {
      appended = text
      initializeResults = new WeakMap()
    }
  })

  mcp.method('initialize', Initialize, ({ clientInfo, capabilities = {} }, call) => {
    const { peer, revision } = call
    checkView(peer.view)
    if (exceeds(capabilities, maxCapabilities, dispatcher.limits)) {
      throw errors.invalidParams(`capabilities are at most ${maxCapabilities} characters of JSON, and ${mostValues(maxCapabilities)} values`)
    }
    if (peer.initialized) dispatcher.observers.reinitialize.notify(peer)
    peer.open(revision, shortenClientInfo(clientInfo as Record<string, unknown> | undefined), capabilities as Record<string, unknown>)
    call.conversation = peer.conversation
    return peer.view === undefined ? initializeResult(revision) : new PreparedResult(initializeText(revision, peer.view))
  }, OPEN)

  mcp.notification('notifications/initialized', Nothing, () => {})
  mcp.notification('initialized', Nothing, () => {})
  mcp.method('ping', Nothing, () => ({}), OPEN)

  mcp.method('server/discover', Nothing, (_params, { revision, peer }) => {
    checkView(peer.view)
    const capabilities = dispatcher.capabilities.of(revision)
    return revision.cached({ supportedVersions: versions, capabilities, ...instructions(peer.view) }, { ttlMs: DISCOVER_TTL, cacheScope: 'public' })
  }, OPEN)

  // The upstream may have been removed since the client connected.
  function checkView (view: string | undefined): void {
    if (view !== undefined && mcp.views.get(view) === undefined) throw errors.unknownView(view)
  }

  /** Encoded once for each revision; that of a view is encoded for each client. */
  function initializeResult (revision: Revision): PreparedResult {
    const capabilities = dispatcher.capabilities.of(revision)
    const known = initializeResults.get(capabilities)
    if (known !== undefined) return known
    const json = new PreparedResult(initializeText(revision, undefined))
    initializeResults.set(capabilities, json)
    return json
  }

  function initializeText (revision: Revision, view: string | undefined): string {
    const serverInfo = convert.implementation(dispatcher.server.info, revision.features)
    return JSON.stringify({ protocolVersion: revision.version, capabilities: dispatcher.capabilities.of(revision), serverInfo, ...instructions(view) })
  }

  function instructions (view: string | undefined): { instructions?: string } {
    const text = view === undefined ? [dispatcher.server.instructions, appended].filter(Boolean).join('\n\n') : mcp.views.get(view)?.instructions
    return text === undefined || text === '' ? {} : { instructions: text }
  }
}, { name: 'patchbay-handshake', dependencies: ['patchbay-mcp', 'patchbay-views'] })
