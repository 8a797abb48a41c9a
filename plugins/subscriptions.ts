import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../protocol/call.js'
import type { Collection } from '../protocol/collection.js'
import { errors } from '../protocol/errors.js'
import { encodeNotification } from '../protocol/jsonrpc.js'
import { META } from '../protocol/revisions/meta.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Tells every client, whatever its transport and revision, when the collection changes. */
    announce: (collection: Pick<Collection<unknown>, 'onChange'>, method: string) => void
    subscriptions: {
      updated: (uri: string, mayKnow: (principal: string | undefined) => boolean) => void
      /** Who is asked to watch a URI while a client listens to it; undefined is there for a URI that cannot be. */
      onInterest: (begin: (uri: string) => Promise<(() => void) | undefined>) => void
    }
  }
}

const Listen = Type.Object({
  notifications: Type.Object({
    toolsListChanged: Type.Optional(Type.Boolean()),
    promptsListChanged: Type.Optional(Type.Boolean()),
    resourcesListChanged: Type.Optional(Type.Boolean()),
    resourceSubscriptions: Type.Optional(Type.Array(Type.String()))
  })
})

const FILTER: Record<string, 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged'
}

const UPDATED = 'notifications/resources/updated'

/** Pushes changes: unasked in the stateful revisions, through `subscriptions/listen` in the stateless one. */
export default fp(async fastify => {
  const { mcp } = fastify
  const waiting = new Set<string>()
  let ready = false
  fastify.addHook('onReady', async () => { ready = true })
  let begin = async (_uri: string): Promise<(() => void) | undefined> => () => {}
  const listening = new Map<Call, { kinds: Set<string>, uris: Set<string> }>()

  fastify.decorate('announce', (collection, method) => {
    collection.onChange(() => {
      // What is registered at start is no news, and many changes in one turn are one announcement.
      if (!ready || waiting.has(method)) return
      waiting.add(method)
      setImmediate(() => { waiting.delete(method); tell(method) })
    })
  })

  fastify.decorate('subscriptions', {
    updated: (uri, mayKnow) => {
      for (const [call, { uris }] of listening) if (uris.has(uri) && mayKnow(call.principal)) send(call, UPDATED, { uri })
    },
    onInterest: interested => { begin = interested }
  })

  mcp.method('subscriptions/listen', Listen, async ({ notifications }, call) => {
    if (!call.channel.streams) throw errors.invalidRequest('subscriptions/listen needs a stream: use /mcp, WebSocket or stdio')
    const { resourceSubscriptions = [], ...flags } = notifications
    const watched = await watch(resourceSubscriptions)
    const kinds = Object.entries(FILTER).filter(([, flag]) => flags[flag] === true)
    const acknowledged = {
      ...Object.fromEntries(kinds.map(([, flag]) => [flag, true])),
      ...(watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] })
    }
    send(call, 'notifications/subscriptions/acknowledged', { notifications: acknowledged })
    listening.set(call, { kinds: new Set(kinds.map(([method]) => method)), uris: new Set(watched.keys()) })
    await ended(call)
    listening.delete(call)
    for (const lose of watched.values()) lose()
    return { _meta: { [META.subscription]: call.id } }
  }, { timed: false })

  /** Those of the URIs that can be watched, each with how to stop. */
  async function watch (uris: string[]): Promise<Map<string, () => void>> {
    const begun = await Promise.all([...new Set(uris)].map(async uri => [uri, await begin(uri).catch(() => undefined)] as const))
    return new Map(begun.filter((entry): entry is [string, () => void] => entry[1] !== undefined))
  }

  function tell (method: string): void {
    const text = encodeNotification(method)
    for (const { revision, channel } of mcp.peers) if (revision !== undefined) channel?.emit(text, method)
    for (const [call, { kinds }] of listening) if (kinds.has(method)) send(call, method, {})
  }
}, { name: 'subscriptions', dependencies: ['mcp'] })

function send (call: Call, method: string, params: object): void {
  call.notify(method, { _meta: { [META.subscription]: call.id }, ...params })
}

/** Settles when the client cancels, when it goes, or when the server ends things in order. */
async function ended (call: Call): Promise<void> {
  const { peer } = call
  await new Promise<void>(resolve => {
    const off = peer.onDrain(() => { resolve() })
    void call.finished.then(() => { off(); resolve() })
  })
}
