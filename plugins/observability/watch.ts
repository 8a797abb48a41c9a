import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { checkStream, endOf } from '../../protocol/dispatch/long-lived-call.js'
import { ADMIN_SCOPE } from '../../protocol/wire/identity.js'
import type { Unwritten, UpstreamRow, WatchMethod } from '../../protocol/watch/batch.js'
import type { Feed } from '../../protocol/watch/feed.js'
import { MEMBERS } from '../../protocol/watch/members.js'
import { Recorder } from '../../protocol/watch/recorder.js'
import type { Sources } from '../../protocol/watch/state-reader.js'
import type { Mcp } from '../core/mcp.js'

const NAME: WatchMethod = 'patchbay/watch'
const SCOPES = [ADMIN_SCOPE]

/** `only` names the members that the caller wants; all when it is absent. */
const Params = Type.Object({
  only: Type.Optional(Type.Array(Type.Union(MEMBERS.map(name => Type.Literal(name))), { maxItems: MEMBERS.length }))
})

/**
 * `patchbay/watch`: tells operators what the gateway does until they cancel it. Never arguments or results, and to
 * callers without the scope the method does not exist. Calls and refusals are recorded from the start on; what sends
 * them is loaded with the first watcher.
 */
export default fp(async ({ mcp }, { maxQueue }: { maxQueue: number }) => {
  const { dispatcher } = mcp
  const startedAt = Date.now()
  const recorder = new Recorder(dispatcher)
  let feed: Promise<Feed> | undefined

  dispatcher.capabilities.declareExtension(NAME, {}, SCOPES)

  mcp.method(NAME, Params, async ({ only }, call) => {
    checkStream(call)
    await watch(await (feed ??= open().catch(forget)), call, only)
    return {}
  }, { timed: false, scopes: SCOPES, hidden: true })

  /** The next watcher tries again. */
  function forget (error: unknown): never {
    feed = undefined
    throw error
  }

  async function open (): Promise<Feed> {
    const { Feed } = await import('../../protocol/watch/feed.js')
    const { info: { name, version } } = dispatcher.server
    return new Feed(
      dispatcher,
      recorder,
      sourcesOf(mcp),
      { gateway: { name, version, node: mcp.store.nodes.self, startedAt } },
      maxQueue
    )
  }
}, { name: 'patchbay-watch', dependencies: ['patchbay-mcp', 'patchbay-approvals', 'patchbay-health', 'patchbay-upstreams'] })

/**
 * Settles when the client has cancelled or left, when it may not watch any more, or when the server begins to drain.
 */
async function watch (feed: Feed, call: Call, only: readonly string[] | undefined): Promise<void> {
  if (call.response.isClosed) return
  let lose = (): void => {}
  const lost = new Promise<void>(resolve => { lose = resolve })
  const remove = feed.add(call, lose, only)
  try {
    await Promise.race([endOf(call), lost])
  } finally {
    remove()
  }
}

function sourcesOf (mcp: Mcp): Sources {
  const { health, store: { nodes: { self } } } = mcp
  let approvals = 0
  return {
    onChange: listener => {
      const offs = [health.onChange(listener), mcp.approvals.onChange(() => {
        approvals++
        listener()
      })]
      return () => { for (const off of offs) off() }
    },
    others: () => {
      const { status, ready, reason, parts } = health.now()
      return {
        approvals,
        upstreams: upstreamsOf(mcp.upstreams),
        nodes: self === undefined ? [] : [{ id: self, self: true }],
        health: { status, ready, reason, parts }
      }
    }
  }
}

function upstreamsOf (upstreams: Mcp['upstreams']): Array<Unwritten<UpstreamRow>> {
  const configured = upstreams.status().map(({ alias, state, lastError, tools, repaired, warnings }) => {
    const upstream = upstreams.get(alias)
    const lastLines = upstream?.lastLines() ?? []
    const pins = upstreams.pins.stateOf(alias)
    return {
      alias,
      state,
      since: upstream?.since,
      ...(upstream?.isFailing === true && { failing: true as const, nextTryAt: upstream.nextTryAt }),
      lastError,
      ...(lastLines.length > 0 && { lastLines }),
      tools,
      ...(repaired > 0 && { repaired }),
      ...(warnings.length > 0 && { warnings }),
      ...(pins !== undefined && { pins })
    }
  })
  return [...configured, ...describeMisconfigured(upstreams.leftOut())]
}

/** One row for each alias: several names can have the same. */
function describeMisconfigured (leftOut: ReturnType<Mcp['upstreams']['leftOut']>): UpstreamRow[] {
  const reasons = new Map<string, string[]>()
  for (const { alias, mistakes } of leftOut) {
    reasons.set(alias, [...(reasons.get(alias) ?? []), ...mistakes.map(({ text }) => text)])
  }
  return [...reasons].map(([alias, texts]) => ({
    alias,
    state: 'misconfigured',
    failing: true,
    lastError: texts.join('; '),
    tools: 0
  }))
}
