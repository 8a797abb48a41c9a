import { randomBytes } from 'node:crypto'
import fp from 'fastify-plugin'
import { Dispatcher, type DispatcherOptions } from '../../protocol/dispatch/dispatcher.js'
import type { CallListener, EndListener, LogListener, RefusalListener } from '../../protocol/dispatch/observers.js'
import type { Sealer } from '../../protocol/questions/seal.js'
import { prefixSpaces, type Store } from '../../protocol/store.js'
import type { Limits } from '../../protocol/wire/limits.js'
import { closeHookBudget } from '../../lib/time.js'
import { heapLimit } from '../../system/process/usage.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The gateway: everything that Patchbay adds to an application. */
    mcp: Mcp
  }
}

type Forwarded = 'method' | 'notification' | 'use'

/**
 * One gateway. Each plugin declares its own members beside the code that provides them; `plugins/README.md` lists them.
 */
export interface Mcp extends Pick<Dispatcher, Forwarded> {
  /** Listens to each call when it comes; returns how to remove the listener. */
  onBegin: (listener: CallListener) => () => void
  /** Listens to each call when it is answered or given up. */
  onEnd: (listener: EndListener) => () => void
  /**
   * Listens to each message, request or connection that is refused before anything is done for it: for a limit, its
   * credential or its origin.
   */
  onRefusal: (listener: RefusalListener) => () => void
  /** Listens to what calls log and to unexpected errors. */
  onLog: (listener: LogListener) => () => void
  /** Runs once, when the shutdown begins and before calls in flight are waited for. */
  onDrain: (listener: () => void) => () => void
  /** For transports and plugins of Patchbay itself; not covered by semantic versioning. */
  readonly dispatcher: Dispatcher
  /** Where everything is kept that outlives a call. */
  readonly store: Store
  /** True when the application serves nothing but this gateway, so that its checks hold for every URL. */
  readonly standalone: boolean
  /** Adds a member. Throws when there is one of that name. */
  provide: <Name extends keyof Mcp>(name: Name, value: Mcp[Name]) => void
}

/**
 * The share of the heap that unanswered messages of clients may take: text may take twice its bytes, and answers are
 * made of it.
 */
const HELD_SHARE = 1 / 8

type Given = Omit<Limits, 'maxAllBytesInFlight'> & { maxAllBytesInFlight?: number | undefined }

export interface McpOptions extends Omit<DispatcherOptions, 'limits' | 'store' | 'secret'> {
  limits: Given
  store: Store
  standalone: boolean
  /** Seals cursors and request state; without one it is made once and kept in the store. */
  secret: string | undefined
}

/** Decorates the application with the gateway, to which the other plugins add their members. */
export default fp(async (fastify, { store, standalone, secret, limits, ...options }: McpOptions) => {
  // The first of all hooks, so that the store is closed last.
  fastify.addHook('onClose', async () => await store.close())
  const maxAllBytesInFlight = limits.maxAllBytesInFlight ?? Math.floor(HELD_SHARE * heapLimit())
  const found = secret ?? await firstSecret(store)
  const dispatcher = new Dispatcher({
    ...options,
    limits: { ...limits, maxAllBytesInFlight },
    ...(found === undefined ? {} : { secret: found }),
    store: prefixSpaces(store.values, 'tools/')
  })
  if (secret === undefined) fastify.addHook('onClose', keepSecret(store, found, dispatcher.sealer))
  fastify.decorate('mcp', gateway(dispatcher, store, standalone))
  fastify.addHook(
    'preClose',
    async () => await dispatcher.lifecycle.drain(closeHookBudget(fastify.initialConfig.pluginTimeout))
  )
}, { name: 'patchbay-mcp' })

function gateway (dispatcher: Dispatcher, store: Store, standalone: boolean): Mcp {
  const base: Pick<
    Mcp,
    | Forwarded
    | 'onBegin'
    | 'onEnd'
    | 'onRefusal'
    | 'onLog'
    | 'onDrain'
    | 'dispatcher'
    | 'store'
    | 'standalone'
    | 'provide'
  > = {
    dispatcher,
    store,
    standalone,
    method: dispatcher.method.bind(dispatcher),
    notification: dispatcher.notification.bind(dispatcher),
    use: dispatcher.use.bind(dispatcher),
    onBegin: listener => dispatcher.observers.begin.add(listener),
    onEnd: listener => dispatcher.observers.end.add(listener),
    onRefusal: listener => dispatcher.observers.refusal.add(listener),
    onLog: listener => dispatcher.observers.log.add(listener),
    onDrain: listener => dispatcher.lifecycle.onDrain(listener),
    provide: (name, value) => {
      if (Object.hasOwn(base, name)) throw new Error(`app.mcp.${name} is there already`)
      Object.defineProperty(base, name, { value, enumerable: true })
    }
  }
  // The other members come with their plugins, which are registered before the gateway is used.
  return base as Mcp
}

/** Undefined where the store is on another machine that cannot be reached: the gateway starts all the same. */
async function firstSecret (store: Store): Promise<string | undefined> {
  try {
    return await sharedSecret(store)
  } catch (error) {
    if (store.kind !== 'redis') throw error
  }
}

/** One secret for all gateways that share the store, made by the first. */
async function sharedSecret ({ values }: Store, own = randomBytes(32).toString('base64url')): Promise<string> {
  await values.put('patchbay', 'secret', own, { ifAbsent: true })
  return await values.get('patchbay', 'secret') as string
}

/**
 * Fetches the secret when the store works and it is not known yet, and writes it again when the store has lost it;
 * returns a hook that ends this.
 */
function keepSecret (store: Store, first: string | undefined, sealer: Sealer): () => Promise<void> {
  let known = first
  const renew = async (): Promise<void> => {
    known = await sharedSecret(store, known)
    sealer.replaceSecret(known)
  }
  const offs = [
    store.onFailureChange(() => { if (known === undefined && store.failure === undefined) renew().catch(() => {}) }),
    store.values.onMissedChanges(() => { renew().catch(() => {}) })
  ]
  return async () => { for (const off of offs) off() }
}
