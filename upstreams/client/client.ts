import { unlessAborted } from '../../lib/abort.js'
import { mirrorParams, mirrorsOf } from '../../protocol/http/mirrored-headers.js'
import type { Implementation } from '../../protocol/revisions/revision.js'
import type { Schema } from '../../protocol/schema/schema.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { LogLevel } from '../../protocol/wire/log-level.js'
import { readList } from '../lists/reading/read-list.js'
import { declares, type Entry, type Kind } from '../lists/reading/kinds.js'
import { canSubscribe, ListenStreams } from '../lists/subscriptions/listen-streams.js'
import type { OpenMcpConnection, RelayedCall, UpstreamRequest } from '../ports.js'
import { hasTasks, takesTasks, taskIdIn, TASKS } from '../relay/tasks/upstream-task.js'
import type { Address } from '../server-entry.js'
import type { UpstreamOptions } from '../upstream-options.js'
import { finishRounds, openPages, type Asked, type Rounds } from './rounds.js'

/** Listeners of a person who uses a server directly. */
export interface ClientEvents extends Asked {
  /** Progress of the request in flight, as the server sent it. */
  progress (params: Params): void
  /** A log message of the server. */
  log (params: Params): void
  /** Gets a sentence about something that the server should not have sent. */
  warn (sentence: string): void
}

export interface ClientOptions {
  readonly address: Address
  /** The version of the protocol to speak; found out when absent. */
  readonly revision: string | undefined
  readonly clientInfo: Implementation
  readonly limits: Omit<UpstreamOptions, 'stdio'>
  /** The mildest log messages that are wanted; none when absent. */
  readonly logLevel: LogLevel | undefined
  readonly events: ClientEvents
}

/** Names the server in errors of this side, and in their `data.upstream`; no alias has a space. */
export const SERVER = 'the server'

type Listener = (method: string, params: Params) => void

/** How many lines of a program that failed are told. */
export const LINES = 10

/** A person's connection to one server. */
export class Client {
  readonly #connection: OpenMcpConnection
  readonly #options: ClientOptions
  readonly #lastLines: (count: number) => readonly string[]
  #resubscribe: (() => void) | undefined
  #streams: ListenStreams | undefined

  constructor (connection: OpenMcpConnection, options: ClientOptions, lastLines: (count: number) => readonly string[]) {
    this.#connection = connection
    this.#options = options
    this.#lastLines = lastLines
  }

  get revision (): string {
    return this.#connection.revision.version
  }

  get capabilities (): Readonly<Record<string, unknown>> {
    return this.#connection.server.capabilities
  }

  /** Lines that the program of the server wrote last for people. */
  lastLines (): readonly string[] {
    return this.#lastLines(LINES)
  }

  /** All entries of a list; none where the server does not have it. */
  async list (kind: Kind, signal: AbortSignal): Promise<readonly Entry[]> {
    if (!declares(this.capabilities, kind)) return []
    try {
      const { entries, warnings } = await readList(this.#connection, kind, this.#options.limits, signal)
      for (const warning of warnings) this.#options.events.warn(warning)
      return entries
    } catch (error) {
      // Many servers with resources have no templates.
      if (kind === 'templates' && isMcpError(error) && error.code === codes.methodNotFound) return []
      throw error
    }
  }

  /** Calls a tool; `listed` is its entry in the list, where there is one. */
  async callTool (name: string, args: Params, listed: Entry | undefined, signal: AbortSignal): Promise<Params> {
    const headers = headersOf(listed, args)
    const renewHeaders = async () =>
      headersOf((await this.list('tools', signal)).find(tool => tool.name === name), args) ?? {}
    const connection = this.#connection
    const isTask = takesTasks(connection) && isObject(listed?.execution) &&
      listed.execution['taskSupport'] === 'required'
    const params = { name, arguments: args, ...(isTask && { task: {} }) }
    const request = this.#requestOf('tools/call', params, signal, { headers, renewHeaders })
    const result = await this.#finish(request, signal)
    const id = taskIdIn(result, connection, request, SERVER)
    if (id === undefined) return result
    const { awaitTask } = await import('./await-task.js')
    const { events } = this.#options
    const onStatus = (message: string): void => events.progress({ message })
    return await awaitTask(id, { ...this.#rounds, request, signal, onStatus })
  }

  /** Sends a request, answers what the server asks meanwhile, and gives the result. */
  async request (
    method: string,
    params: Params,
    signal: AbortSignal,
    more: Pick<UpstreamRequest, 'headers' | 'renewHeaders'> = {}
  ): Promise<Params> {
    return await this.#finish(this.#requestOf(method, params, signal, more), signal)
  }

  #requestOf (
    method: string,
    params: Params,
    signal: AbortSignal,
    more: Pick<UpstreamRequest, 'headers' | 'renewHeaders'>
  ): UpstreamRequest {
    const tasks = method === 'tools/call' && hasTasks(this.#connection) ? TASKS : {}
    return {
      method,
      params,
      signal,
      wantsProgress: true,
      call: this.#call,
      capabilities: this.#connection.revision.stateless
        ? { elicitation: { form: {}, url: {} }, roots: {}, ...tasks }
        : undefined,
      logLevel: this.#options.logLevel,
      ...more
    }
  }

  get #rounds (): Rounds {
    const { events, limits } = this.#options
    return { connection: this.#connection, events, max: limits.maxUpstreamRounds, server: SERVER }
  }

  async #finish (request: UpstreamRequest, signal: AbortSignal): Promise<Params> {
    const { stateless } = this.#connection.revision
    const attempt = async (): Promise<Params> =>
      stateless ? await finishRounds(request, signal, this.#rounds) : await this.#connection.request(request)
    return await unlessAborted(openPages(attempt, signal, this.#rounds), signal)
  }

  /**
   * Listens to everything that the server announces, and to changes of resources, until the connection ends. Rejects
   * when the server refuses one of them. `listener` gets every notification that belongs to no request.
   */
  async listen (uris: readonly string[], signal: AbortSignal, listener: Listener): Promise<void> {
    const connection = this.#connection
    const { logLevel } = this.#options
    this.#resubscribe = () => { this.listen(uris, signal, listener).catch(() => {}) }
    connection.onNotification(listener)
    if (uris.length > 0 && !canSubscribe(connection)) {
      throw errors.upstreamFailed(SERVER, 'it has no subscriptions to resources')
    }
    if (connection.revision.stateless) {
      this.#streams?.close()
      this.#streams = new ListenStreams(connection, () => {}, () => {})
      for (const uri of uris) this.#streams.add(uri)
      return
    }
    if (logLevel !== undefined && this.capabilities['logging'] !== undefined) {
      await connection.request({ method: 'logging/setLevel', params: { level: logLevel }, signal })
    }
    for (const uri of uris) await connection.request({ method: 'resources/subscribe', params: { uri }, signal })
  }

  onClose (listener: (why: Error) => void): void {
    this.#connection.onClose(listener)
  }

  /** The server had forgotten its session, and has a new one that nothing is subscribed in. */
  reopened (): void {
    this.#resubscribe?.()
  }

  async close (): Promise<void> {
    this.#streams?.close()
    await this.#connection.close()
  }

  readonly #call: RelayedCall = {
    principal: undefined,
    caller: 'user',
    client: 'user',
    isWaiting: true,
    progress: params => this.#options.events.progress(params),
    log: params => this.#options.events.log(params),
    canAsk: method => method === 'elicitation/create',
    ask: async (method, params, signal) => {
      if (method !== 'elicitation/create') throw errors.methodNotFound(method)
      return await this.#options.events.elicit(params, signal)
    }
  }
}

function headersOf (listed: Entry | undefined, args: Params): Record<string, string> | undefined {
  if (!isObject(listed?.inputSchema)) return undefined
  try {
    return mirrorParams(mirrorsOf(listed.inputSchema as Schema), args)
  } catch {
    return undefined
  }
}
