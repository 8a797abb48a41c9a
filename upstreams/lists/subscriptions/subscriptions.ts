import { callEach } from '../../../lib/listeners.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection } from '../../ports.js'
import { ListenStream } from './listen-stream.js'

interface Watched { readonly listeners: Set<() => void>, begun: Promise<void> }

const FLAGS = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const

/** The resources of one upstream that clients watch: one subscription for each URI, made again on every new connection. */
export class Subscriptions {
  readonly #start: () => void
  readonly #resumed: () => void
  readonly #watched = new Map<string, Watched>()
  #connection: Connection | undefined
  #stream: ListenStream | undefined

  /** `start` opens a connection when there is none; `resumed` runs when list changes may have been missed. */
  constructor (start: () => void, resumed: () => void) {
    this.#start = start
    this.#resumed = resumed
  }

  /** Calls `changed` for each update until the returned function is called. Rejects when the upstream refuses the subscription. */
  async watch (uri: string, changed: () => void): Promise<() => void> {
    const known = this.#watched.get(uri)
    const watched = known ?? { listeners: new Set(), begun: Promise.resolve() }
    watched.listeners.add(changed)
    this.#watched.set(uri, watched)
    if (known === undefined) watched.begun = this.#subscribe(uri)
    const stop = (): void => this.#remove(uri, watched, changed)
    await watched.begun.catch((error: unknown) => {
      stop()
      throw error
    })
    return stop
  }

  /** Uses another connection from now on. */
  attach (connection: Connection): void {
    const isAgain = this.#connection !== undefined
    this.#connection = connection
    this.#stream?.close()
    this.#stream = connection.revision.stateless ? new ListenStream(connection, () => this.#missed()) : undefined
    connection.onNotification((method, { uri }) => {
      if (method === 'notifications/resources/updated' && typeof uri === 'string') this.#notify(uri)
    })
    if (this.#stream !== undefined) this.#listen()
    else for (const uri of this.#watched.keys()) this.#subscribe(uri).catch(() => {})
    // Updates may have been missed while there was no connection.
    if (isAgain) for (const uri of this.#watched.keys()) this.#notify(uri)
  }

  close (): void {
    this.#stream?.close()
    this.#watched.clear()
  }

  #notify (uri: string): void {
    callEach(this.#watched.get(uri)?.listeners ?? [], () => {})
  }

  #missed (): void {
    this.#resumed()
    for (const uri of this.#watched.keys()) this.#notify(uri)
  }

  async #subscribe (uri: string): Promise<void> {
    const connection = this.#connection
    if (connection === undefined || connection.closed) this.#start()
    else if (this.#stream !== undefined) this.#listen()
    else if (canSubscribe(connection)) await connection.request({ method: 'resources/subscribe', params: { uri } })
  }

  #remove (uri: string, watched: Watched, changed: () => void): void {
    if (!watched.listeners.delete(changed) || watched.listeners.size > 0 || this.#watched.get(uri) !== watched) return
    this.#watched.delete(uri)
    const connection = this.#connection
    if (connection === undefined || connection.closed) return
    if (this.#stream !== undefined) this.#listen()
    else if (canSubscribe(connection)) connection.request({ method: 'resources/unsubscribe', params: { uri } }).catch(() => {})
  }

  #listen (): void {
    const connection = this.#connection
    if (connection === undefined) return
    const uris = canSubscribe(connection) ? [...this.#watched.keys()] : []
    this.#stream?.want({ ...wantedLists(connection), ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) })
  }
}

const canSubscribe = ({ server: { capabilities: { resources } } }: Connection): boolean => isObject(resources) && resources.subscribe === true

function wantedLists ({ server: { capabilities } }: Connection): Params {
  const wanted = Object.entries(FLAGS).filter(([name]) => {
    const capability = capabilities[name]
    return isObject(capability) && capability.listChanged === true
  })
  return Object.fromEntries(wanted.map(([, flag]) => [flag, true]))
}
