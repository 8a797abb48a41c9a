import { Type, type Static } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import {
  SubscriptionBudget,
  type SubscriptionLimits
} from '../../protocol/definitions/subscriptions/subscription-budget.js'
import { checkStream, endOf } from '../../protocol/dispatch/long-lived-call.js'
import { META } from '../../protocol/wire/meta.js'
import { ListChanges } from './subscriptions/list-changes.js'
import { ListeningCalls, notify, type Audience, type MayKnow } from './subscriptions/listening-calls.js'

export type { MayKnow } from './subscriptions/listening-calls.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /**
     * Notifies every client whose principal may know, whatever its transport and revision, when the source changes:
     * those that see the whole gateway, or those of the views that `concerns` accepts.
     */
    announce: (
      source: { onChange: (listener: (mayKnow?: MayKnow) => void) => unknown },
      method: string,
      concerns?: ConcernsView
    ) => void
    subscriptions: {
      /** Notifies the calls of `subscriptions/listen` that asked for the resource in that view. */
      updated: (uri: string, mayKnow: MayKnow, view?: string) => void
      /**
       * Sets the function that watches a URI while a client listens to it; it resolves to undefined for a URI that
       * cannot be watched.
       */
      watchWith: (start: StartWatch) => void
      /** Sets the function that watches the tasks of a caller; without it no tasks are acknowledged. */
      watchTasksWith: (start: WatchTasks) => void
    }
  }
}

/** True for the views whose clients are notified; undefined stands for the whole gateway. */
export type ConcernsView = (view: string | undefined) => boolean

type StartWatch = (uri: string, call: Call) => Promise<(() => void) | undefined>

/** Finds those of the tasks that the caller may know; throws for a client that cannot use them. */
export type WatchTasks = (ids: readonly string[], call: Call) => Promise<WatchedTasks>

/** Some tasks, whose states `begin` sends: those of now, then each change. */
export interface WatchedTasks {
  readonly ids: readonly string[]
  begin: (send: (task: object) => void) => void
  stop: () => void
}

const Listen = Type.Object({
  notifications: Type.Object({
    toolsListChanged: Type.Optional(Type.Boolean()),
    promptsListChanged: Type.Optional(Type.Boolean()),
    resourcesListChanged: Type.Optional(Type.Boolean()),
    resourceSubscriptions: Type.Optional(Type.Array(Type.String())),
    taskIds: Type.Optional(Type.Array(Type.String()))
  })
})

type Wanted = Static<typeof Listen>['notifications']

const FLAGS = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged'
} as const

/**
 * Sends changes to clients: to all of them in the stateful revisions, through `subscriptions/listen` in the stateless
 * one.
 */
export default fp(async (fastify, limits: SubscriptionLimits) => {
  const { mcp, mcp: { dispatcher } } = fastify
  const budget = new SubscriptionBudget(limits)
  const listening = new ListeningCalls()
  const changes = new ListChanges(dispatcher.lifecycle, listening)
  let startWatch: StartWatch = async () => () => {}
  let watchTasks: WatchTasks = async () => ({ ids: [], begin: () => {}, stop: () => {} })
  let ready = false
  fastify.addHook('onReady', async () => { ready = true })

  mcp.provide('announce', (source, method, concerns = isWhole) => {
    const all: Audience = (_identity, view) => concerns(view)
    // Definitions that are added during the start are not announced.
    source.onChange(mayKnow => {
      if (!ready) return
      changes.add(method, mayKnow === undefined
        ? all
        : (identity, view) => concerns(view) && mayKnow(identity.principal, identity, view))
    })
  })
  mcp.provide('subscriptions', {
    updated: (uri, mayKnow, view) => listening.notifyUpdate(uri, (identity, of) =>
      of === view && mayKnow(identity.principal, identity, of)),
    watchWith: start => { startWatch = start },
    watchTasksWith: start => { watchTasks = start }
  })

  mcp.method('subscriptions/listen', Listen, async ({ notifications }, call) => {
    checkStream(call)
    const { resourceSubscriptions: uris = [], taskIds } = notifications
    const release = budget.take(call.peer, taskIds === undefined ? uris : [...uris, ...taskIds])
    const watched = new Map<string, () => void>()
    let tasks: WatchedTasks | undefined
    try {
      tasks = taskIds === undefined ? undefined : await watchTasks(taskIds, call)
      for (const [uri, stop] of await watchAll(uris, call, startWatch)) watched.set(uri, stop)
      const methods = methodsOf(notifications)
      // Other calls may have taken the last stream meanwhile.
      checkStream(call)
      const acknowledged = { ...acknowledge(methods, [...watched.keys()]), ...(tasks && { taskIds: tasks.ids }) }
      notify(call, 'notifications/subscriptions/acknowledged', { notifications: acknowledged })
      listening.add(call, methods, watched.keys())
      tasks?.begin(task => notify(call, 'notifications/tasks', task))
      await endOf(call)
    } finally {
      listening.delete(call)
      release()
      tasks?.stop()
      for (const stop of watched.values()) stop()
    }
    return { _meta: { [META.subscription]: call.id } }
  }, { timed: false, scopes: [] })
}, { name: 'patchbay-subscriptions', dependencies: ['patchbay-mcp'] })

type ListMethod = keyof typeof FLAGS

const methodsOf = (wanted: Wanted): ListMethod[] =>
  (Object.keys(FLAGS) as ListMethod[]).filter(method => wanted[FLAGS[method]] === true)

const acknowledge = (methods: ListMethod[], uris: string[]): Wanted => ({
  ...Object.fromEntries(methods.map(method => [FLAGS[method], true])),
  ...(uris.length === 0 ? {} : { resourceSubscriptions: uris })
})

/** The URIs that can be watched, each with how to stop. */
async function watchAll (uris: string[], call: Call, start: StartWatch): Promise<Map<string, () => void>> {
  const started = await Promise.all(
    [...new Set(uris)].map(async uri => [uri, await start(uri, call).catch(() => undefined)] as const)
  )
  return new Map(started.filter((entry): entry is [string, () => void] => entry[1] !== undefined))
}

const isWhole: ConcernsView = view => view === undefined
