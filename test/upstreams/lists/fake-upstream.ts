import { Listeners } from '../../../lib/listeners.js'
import { modern, newestStateful } from '../../../protocol/revisions/table.js'
import type { Revision } from '../../../protocol/revisions/revision.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { ListLimits } from '../../../upstreams/lists/limits.js'
import type { Connection, Upstream, UpstreamRequest } from '../../../upstreams/ports.js'
import { ParkedCalls } from '../../../upstreams/relay/parking/parked-calls.js'
import { redactor, type Redact } from '../../../upstreams/secrets.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'
import { createEntry } from '../../support/fake-upstream.js'

type Json = Record<string, unknown>
type Answer = (params: Params, request: UpstreamRequest) => Json | Promise<Json>

export const LIMITS: ListLimits = {
  maxUpstreamPages: 1_000,
  maxUpstreamEntries: 10_000,
  maxUpstreamTemplates: 256,
  maxUpstreamEntry: 256 * 1024,
  maxUpstreamEntryValues: 20_000,
  maxUpstreamList: 16 * 1024 * 1024,
  maxUpstreamInstructions: 8_192,
  maxUpstreamLinks: 1_000,
  upstreamListWait: 5_000,
  upstreamListDelay: 20,
  callTimeout: 60_000
}

export interface Script {
  tools?: Json[]
  prompts?: Json[]
  resources?: Json[]
  templates?: Json[]
  /** Answers by method, in place of those made of the lists. */
  answers?: Record<string, Answer>
  capabilities?: Json
  instructions?: string
  /** Makes it a gateway of ours. */
  hops?: string[]
  transport?: Connection['transport']
  modern?: boolean
  revision?: Revision
}

/** A connection to a server that exists in the test only. */
export class FakeConnection implements Connection {
  readonly revision: Revision
  readonly transport: Connection['transport']
  readonly server: Connection['server']
  readonly requests: UpstreamRequest[] = []
  closed = false
  readonly #script: Script
  readonly #notified = new Listeners<[method: string, params: Params]>()
  readonly #closing = new Listeners<[why: Error]>()

  constructor (script: Script) {
    this.#script = script
    this.revision = script.revision ?? (script.modern === true ? modern : newestStateful)
    this.transport = script.transport ?? 'stdio'
    const capabilities = script.capabilities ?? {
      tools: { listChanged: true },
      prompts: {},
      resources: { subscribe: true },
      completions: {}
    }
    this.server = { capabilities, instructions: script.instructions, hops: script.hops }
  }

  async request (request: UpstreamRequest): Promise<Json> {
    this.requests.push(request)
    const { method, params } = request
    const answer = this.#script.answers?.[method]
    if (answer !== undefined) return await answer(params, request)
    const { tools = [], prompts = [], resources = [], templates = [] } = this.#script
    const lists: Record<string, Json> = {
      'tools/list': { tools },
      'prompts/list': { prompts },
      'resources/list': { resources },
      'resources/templates/list': { resourceTemplates: templates }
    }
    if (lists[method] !== undefined) return lists[method]
    if (method === 'tools/call') return { content: [{ type: 'text', text: String(params.name) }] }
    if (method === 'resources/read') return { contents: [{ uri: params.uri, text: 'read' }] }
    throw errors.methodNotFound(method)
  }

  /** The requests of one method. */
  of (method: string): UpstreamRequest[] {
    return this.requests.filter(request => request.method === method)
  }

  emit (method: string, params: Params = {}): void {
    this.#notified.notify(method, params)
  }

  onNotification (listener: (method: string, params: Params) => void): () => void {
    return this.#notified.add(listener)
  }

  onClose (listener: (why: Error) => void): () => void {
    return this.#closing.add(listener)
  }

  async close (why = new Error('closed')): Promise<void> {
    this.closed = true
    this.#closing.notify(why)
  }
}

/** A configured server that connects when the test says so. */
export class FakeUpstream implements Upstream {
  readonly entry: ServerEntry
  readonly redact: Redact
  readonly script: Script
  connection: FakeConnection
  readonly parked = new ParkedCalls({
    parkedCallLifetime: 1_000,
    maxParkedCalls: 1,
    maxParkedCallsPerUpstream: 1,
    maxParkedCallsPerCaller: 1,
    maxParkedBytes: 1_000_000
  })

  readonly maxRounds = 10
  starts = 0
  readonly #ready = new Listeners<[connection: Connection]>()

  constructor (alias: string, script: Script = {}, more: Partial<ServerEntry> = {}) {
    this.entry = createEntry({ alias, ...more })
    this.redact = redactor(this.entry)
    this.script = script
    this.connection = new FakeConnection(script)
  }

  /** Connects, again if it was connected. */
  connect (): FakeConnection {
    this.connection = new FakeConnection(this.script)
    this.#ready.notify(this.connection)
    return this.connection
  }

  openConnection (): undefined {}

  async connectionFor (): Promise<Connection> {
    return this.connection
  }

  async shared (): Promise<Connection> {
    this.starts++
    return this.connection
  }

  onReady (listener: (connection: Connection) => void): () => void {
    return this.#ready.add(listener)
  }

  onChange (): () => void {
    return () => {}
  }

  get status (): Upstream['status'] {
    return {
      state: 'ready',
      transport: 'stdio',
      revision: this.connection.revision.version,
      restarts: 0,
      lastError: undefined
    }
  }

  readonly since = 0
  readonly isFailing = false

  readonly nextTryAt = undefined

  retry (): void {}

  async readSignIn (): Promise<void> {}

  async signInPages (): Promise<undefined> {}

  recentLines (): string[] {
    return []
  }

  lastLines (): string[] {
    return []
  }

  async close (): Promise<void> {
    await this.connection.close()
  }
}
