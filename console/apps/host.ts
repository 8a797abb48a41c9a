import { isObject, NEWEST_APPS, RpcError, type Json, type JsonObject } from '../client/contract.js'

const REFUSED = -32000
const NO_SUCH_METHOD = -32601
const WRONG_PARAMS = -32602

/** Requests of one page that are answered at a time. */
const MAX_OPEN = 32

/** How long a page may take to say that it is ready to be removed, in milliseconds. */
const TEARDOWN_MS = 1_000

/** A request that is refused, with the reason that the page gets. */
export class Refused extends Error {
  constructor (message: string, readonly code = REFUSED) { super(message) }
}

export interface HostPorts {
  /** Sends to the sandbox, and to nothing else. */
  send: (message: JsonObject) => void
  /** Rejects with `Refused` where the page may not call this tool. */
  callTool: (name: Json, args: JsonObject) => Promise<JsonObject>
  readResource: (uri: Json) => Promise<JsonObject>
  /** Opens a page if its user says so; else rejects with `Refused`. */
  openLink: (url: string) => Promise<void>
  resize: (height: number) => void
  log: (line: string) => void
  /** Hears that the sandbox is there. */
  ready: () => void
}

/** Facts that the page of an app gets when it starts. */
export interface Start {
  html: string
  arguments: JsonObject
  result: JsonObject
  capabilities: JsonObject
  context: JsonObject
}

type Id = string | number

/** The host of the page of one app, as the extension has it; it knows no frames. */
export class AppHost {
  readonly #ports: HostPorts
  readonly #start: Start
  readonly #open = new Set<Id>()
  #stage: 'sandbox' | 'page' | 'answered' | 'running' | 'closed' = 'sandbox'
  #tornDown: (() => void) | undefined

  constructor (start: Start, ports: HostPorts) {
    this.#start = start
    this.#ports = ports
  }

  /** Takes a message that came from the sandbox and its origin. */
  receive (message: unknown): void {
    if (!isObject(message) || message.jsonrpc !== '2.0' || this.#stage === 'closed') return
    const { id, method, params } = message
    if (typeof method !== 'string') this.#settle(id)
    else if (id === undefined) this.#onNotification(method, isObject(params) ? params : {})
    else if (typeof id === 'string' || typeof id === 'number') {
      void this.#onRequest(id, method, isObject(params) ? params : {})
    }
  }

  /** Tells a page that runs that it is about to be removed; resolves when it has answered, or has had its time. */
  async tearDown (reason: string): Promise<void> {
    const isRunning = this.#stage === 'running'
    if (!isRunning || this.#tornDown !== undefined) { this.#stage = 'closed'; return }
    await new Promise<void>(resolve => {
      this.#tornDown = resolve
      setTimeout(resolve, TEARDOWN_MS)
      this.#ports.send({ jsonrpc: '2.0', id: 'teardown', method: 'ui/resource-teardown', params: { reason } })
    })
    this.#stage = 'closed'
  }

  #settle (id: Json | undefined): void {
    if (id === 'teardown') this.#tornDown?.()
  }

  #onNotification (method: string, params: JsonObject): void {
    if (method === 'ui/notifications/sandbox-proxy-ready') this.#sendPage()
    else if (method === 'ui/notifications/initialized') this.#sendCall()
    else if (this.#stage === 'running') this.#hear(method, params)
  }

  #hear (method: string, { height, level, data }: JsonObject): void {
    if (method === 'ui/notifications/size-changed' && typeof height === 'number' && Number.isFinite(height)) {
      this.#ports.resize(height)
    } else if (method === 'notifications/message') {
      this.#ports.log(`${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`)
    }
  }

  #sendPage (): void {
    if (this.#stage !== 'sandbox') return
    this.#stage = 'page'
    this.#ports.ready()
    this.#notify('ui/notifications/sandbox-resource-ready', { html: this.#start.html })
  }

  /** Arguments and result are sent once, when the page has said that it is ready for messages. */
  #sendCall (): void {
    if (this.#stage !== 'answered') return
    this.#stage = 'running'
    this.#notify('ui/notifications/tool-input', { arguments: this.#start.arguments })
    this.#notify('ui/notifications/tool-result', this.#start.result)
  }

  #notify (method: string, params: JsonObject): void {
    this.#ports.send({ jsonrpc: '2.0', method, params })
  }

  async #onRequest (id: Id, method: string, params: JsonObject): Promise<void> {
    if (this.#stage === 'sandbox' || this.#open.has(id)) return
    if (this.#open.size >= MAX_OPEN) {
      this.#respond(id, { error: { code: REFUSED, message: `At most ${MAX_OPEN} requests are answered at a time` } })
      return
    }
    this.#open.add(id)
    try {
      this.#respond(id, { result: await this.#answer(method, params) })
    } catch (error) {
      this.#respond(id, { error: errorOf(error) })
    } finally {
      this.#open.delete(id)
    }
  }

  #respond (id: Id, outcome: JsonObject): void {
    if (this.#stage !== 'closed') this.#ports.send({ jsonrpc: '2.0', id, ...outcome })
  }

  async #answer (method: string, params: JsonObject): Promise<JsonObject> {
    if (method === 'ui/initialize') return this.#initialize()
    if (method === 'ping') return {}
    if (this.#stage !== 'running') throw new Refused('The page has not sent ui/notifications/initialized')
    switch (method) {
      case 'tools/call':
        return await this.#ports.callTool(params.name ?? null, isObject(params.arguments) ? params.arguments : {})
      case 'resources/read':
        return await this.#ports.readResource(params.uri ?? null)
      case 'ui/open-link':
        if (typeof params.url !== 'string') throw new Refused('"url" must be text', WRONG_PARAMS)
        await this.#ports.openLink(params.url)
        return {}
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      case 'ui/message':
      case 'ui/update-model-context':
        throw new Refused('There is no model in the console')
      default:
        throw new Refused(`The console does not answer ${method}`, NO_SUCH_METHOD)
    }
  }

  #initialize (): JsonObject {
    if (this.#stage === 'page') this.#stage = 'answered'
    const { capabilities, context } = this.#start
    return {
      protocolVersion: NEWEST_APPS,
      hostInfo: { name: 'patchbay-console', title: 'Patchbay console', version: '1' },
      hostCapabilities: capabilities,
      hostContext: context
    }
  }
}

function errorOf (error: unknown): JsonObject {
  if (error instanceof Refused) return { code: error.code, message: error.message }
  if (error instanceof RpcError) {
    return { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) }
  }
  return { code: REFUSED, message: error instanceof Error ? error.message : String(error) }
}
