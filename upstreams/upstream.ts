import { Listeners } from '../lib/listeners.js'
import type { Call } from '../protocol/dispatch/call.js'
import { errors } from '../protocol/wire/errors.js'
import type { Connection, Upstream, UpstreamState } from './ports.js'
import type { ServerEntry } from './server-entry.js'

export type Connect = (signal: AbortSignal, onReopen: (connection: Connection) => void) => Promise<Connection>

/** One configured server and the connections to it. */
export class ConfiguredUpstream implements Upstream {
  readonly entry: ServerEntry
  readonly #connect: Connect
  readonly #ready = new Listeners<[connection: Connection]>()
  readonly #changed = new Listeners<[]>()
  readonly #ended = new AbortController()
  #connection: Connection | undefined
  #connecting: Promise<Connection> | undefined
  #state: UpstreamState = 'stopped'
  #lastError: string | undefined
  #restarts = 0

  constructor (entry: ServerEntry, connect: Connect) {
    this.entry = entry
    this.#connect = connect
  }

  get status (): Upstream['status'] {
    const { address } = this.entry
    const known = this.#connection
    return { state: this.#state, transport: known?.transport ?? address.kind, revision: known?.revision.version, restarts: this.#restarts, lastError: this.#lastError }
  }

  async connectionFor (_call: Call): Promise<Connection> {
    return await this.shared()
  }

  async shared (): Promise<Connection> {
    if (this.#connection?.closed === false) return this.#connection
    this.#connecting ??= this.#start().finally(() => { this.#connecting = undefined })
    return await this.#connecting
  }

  onReady (listener: (connection: Connection) => void): () => void {
    return this.#ready.add(listener)
  }

  onChange (listener: () => void): () => void {
    return this.#changed.add(listener)
  }

  async close (): Promise<void> {
    this.#ended.abort(new Error('the upstream was closed'))
    await this.#connection?.close()
    this.#set('closed')
  }

  async #start (): Promise<Connection> {
    this.#set('starting')
    try {
      const connection = await this.#connect(this.#ended.signal, again => this.#ready.notify(again))
      this.#connection = connection
      connection.onClose(why => { this.#lastError = why.message; this.#restarts++; this.#set('stopped') })
      this.#set('ready')
      this.#ready.notify(connection)
      return connection
    } catch (error) {
      this.#lastError = error instanceof Error ? error.message : String(error)
      this.#set('stopped')
      throw errors.upstreamUnavailable(this.entry.alias, 'it could not be started')
    }
  }

  #set (state: UpstreamState): void {
    this.#state = state
    this.#changed.notify()
  }
}
