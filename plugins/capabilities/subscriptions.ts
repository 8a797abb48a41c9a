import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { encodeNotification } from '../../protocol/wire/jsonrpc.js'
import type { Peer } from '../../protocol/peer/peer.js'
import { META } from '../../protocol/wire/meta.js'

/** Whether a caller may hear of something. */
export type MayKnow = (principal: string | undefined) => boolean

declare module '../core/mcp.js' {
  interface Mcp {
    /** Tells every client that may know, whatever its transport and revision, when the collection changes. */
    announce: (collection: { onChange: (listener: (mayKnow?: MayKnow) => void) => unknown }, method: string) => void
    subscriptions: {
      updated: (uri: string, mayKnow: MayKnow) => void
      /** Who is asked to watch a URI while a client listens to it; undefined is there for a URI that cannot be. */
      onInterest: (begin: Begin) => void
    }
  }
}

type Begin = (uri: string, call: Call) => Promise<(() => void) | undefined>

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
export default fp(async (fastify, { maxSubscriptions, maxSubscriptionText }: { maxSubscriptions: number, maxSubscriptionText: number }) => {
  const { mcp } = fastify
  /** Who may know of what is going to be announced. */
  const waiting = new Map<string, MayKnow[]>()
  let ready = false
  fastify.addHook('onReady', async () => { ready = true })
  let begin: Begin = async () => () => {}
  /** How many resources each peer hears of this way, and how many characters their URIs have. */
  const taken = new WeakMap<Peer, { count: number, text: number }>()
  const listening = new Map<Call, { kinds: Set<string>, uris: Set<string> }>()

  fastify.mcp.provide('announce', (collection, method) => {
    collection.onChange((mayKnow = everybody) => {
      // What is registered at start is no news, and many changes in one turn are one announcement.
      if (!ready) return
      const others = waiting.get(method)
      if (others !== undefined) { others.push(mayKnow); return }
      waiting.set(method, [mayKnow])
      setImmediate(() => tell(method))
    })
  })

  fastify.mcp.provide('subscriptions', {
    updated: (uri, mayKnow) => {
      for (const [call, { uris }] of listening) if (uris.has(uri) && mayKnow(call.principal)) send(call, UPDATED, { uri })
    },
    onInterest: interested => { begin = interested }
  })

  mcp.method('subscriptions/listen', Listen, async ({ notifications }, call) => {
    needStream(call)
    const { resourceSubscriptions = [], ...flags } = notifications
    const giveBack = takeRoom(resourceSubscriptions, call)
    const watched = await watch(resourceSubscriptions, call)
    const kinds = Object.entries(FILTER).filter(([, flag]) => flags[flag] === true)
    const acknowledged = {
      ...Object.fromEntries(kinds.map(([, flag]) => [flag, true])),
      ...(watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] })
    }
    try {
      // Others may have taken the room meanwhile.
      needStream(call)
      send(call, 'notifications/subscriptions/acknowledged', { notifications: acknowledged })
      listening.set(call, { kinds: new Set(kinds.map(([method]) => method)), uris: new Set(watched.keys()) })
      await ended(call)
    } finally {
      listening.delete(call)
      giveBack()
      for (const lose of watched.values()) lose()
    }
    return { _meta: { [META.subscription]: call.id } }
  }, { timed: false, scopes: [] })

  /** Takes room for those URIs; returns how to give it back. */
  function takeRoom (uris: string[], { peer }: Call): () => void {
    const others = taken.get(peer) ?? { count: 0, text: 0 }
    const wanted = { count: uris.length, text: uris.reduce((sum, { length }) => sum + length, 0) }
    if (wanted.count > 0 && wanted.count + others.count + peer.subscriptions.size > maxSubscriptions) throw errors.tooManySubscriptions(maxSubscriptions)
    if (wanted.text > 0 && wanted.text + others.text + peer.subscriptionTextLength > maxSubscriptionText) throw errors.tooLongSubscriptions(maxSubscriptionText)
    const mine = { count: others.count + wanted.count, text: others.text + wanted.text }
    taken.set(peer, mine)
    return () => {
      const { count, text } = taken.get(peer) ?? mine
      taken.set(peer, { count: count - wanted.count, text: text - wanted.text })
    }
  }

  /** Those of the URIs that can be watched, each with how to stop. */
  async function watch (uris: string[], call: Call): Promise<Map<string, () => void>> {
    const begun = await Promise.all([...new Set(uris)].map(async uri => [uri, await begin(uri, call).catch(() => undefined)] as const))
    return new Map(begun.filter((entry): entry is [string, () => void] => entry[1] !== undefined))
  }

  function tell (method: string): void {
    const text = encodeNotification(method)
    const mayKnow = anyOf(waiting.get(method) ?? [])
    waiting.delete(method)
    for (const { revision, channel, principal } of mcp.dispatcher.lifecycle.peers) if (revision !== undefined && mayKnow(principal)) channel?.emit(text, method)
    for (const [call, { kinds }] of listening) if (kinds.has(method) && mayKnow(call.principal)) send(call, method, {})
  }
}, { name: 'patchbay-subscriptions', dependencies: ['patchbay-mcp'] })

function needStream ({ channel }: Call): void {
  if (!channel.streams) throw channel.canStream === true ? errors.overloaded('there are too many event streams, option maxStreams') : errors.invalidRequest('subscriptions/listen needs a stream: use /mcp, WebSocket or stdio')
}

const everybody: MayKnow = () => true

const anyOf = (rules: MayKnow[]): MayKnow => rules.includes(everybody) ? everybody : principal => rules.some(mayKnow => mayKnow(principal))

function send (call: Call, method: string, params: object): void {
  call.notify(method, { _meta: { [META.subscription]: call.id }, ...params })
}

/** Settles when the client cancels, when it goes, when its time is over, or when the server ends things in order. */
async function ended (call: Call): Promise<void> {
  const { peer, identity } = call
  await new Promise<void>(resolve => {
    const off = peer.onDrain(() => { resolve() })
    const forget = onExpiry(identity, resolve)
    void call.response.finished.then(() => { off(); forget(); resolve() })
  })
}
