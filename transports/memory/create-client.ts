import type { FastifyInstance } from 'fastify'
import { didYouMean } from '../../lib/nearest-name.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { ANONYMOUS_ALL_SCOPES, IDENTITY_SHAPE, isIdentity, type Identity } from '../../protocol/wire/identity.js'
import { answersOf, capabilitiesOf, type Answerers } from './client-answers.js'
import {
  callTool,
  getPrompt,
  readResource,
  type CallTool,
  type PromptReply,
  type ResourceReply
} from './client-calls.js'
import { MemoryClient, type Answer, type Json, type RequestOptions } from './client.js'

export interface ClientOptions extends Answerers {
  /** The version to ask for; the newest one with a handshake when absent. */
  protocolVersion?: string
  /** Capabilities that the client declares besides those of `elicit`, `sample` and `roots`. */
  capabilities?: Json
  /**
   * The caller for whom the client acts: rights, notes, rates and audit lines are that caller's. Without one the client
   * has every right and no rate.
   */
  identity?: Identity
  /** The name of a view, or the alias of an upstream: the client sees that alone, as at `/mcp/NAME`. */
  view?: string
  /**
   * Answers to other questions of the server, by method: `{ 'elicitation/create': () => ({ action: 'accept', content:
   * {} }) }`.
   */
  answers?: Record<string, Answer>
}

const OPTIONS: Record<keyof ClientOptions, true> = {
  protocolVersion: true,
  capabilities: true,
  identity: true,
  view: true,
  answers: true,
  elicit: true,
  sample: true,
  roots: true
}

/**
 * A client in the same process: no port, no socket, the same dispatcher. For tests and for calling tools from other
 * routes.
 */
export interface Client {
  /** The result of `initialize`. */
  readonly server: Json
  /** Notifications received so far. */
  readonly notifications: Array<{ method: string, params: Json }>
  /**
   * Calls a tool: `call(hello, { name: 'Ada' })` with the types of the tool, or `call('hello', { name: 'Ada' })`.
   * Rejects with a `ToolError` when the result is an error, and with an `McpError` when the request is refused.
   */
  call: CallTool
  /** Reads a resource. */
  read: (uri: string, options?: RequestOptions) => Promise<ResourceReply>
  /** Gets a prompt. */
  prompt: (name: string, args?: Record<string, string>, options?: RequestOptions) => Promise<PromptReply>
  /** Rejects with an `McpError` when the server answers with an error. */
  request: (method: string, params?: Json, signal?: AbortSignal) => Promise<Json>
  notify: (method: string, params?: Json) => void
  /** The next notification of that method, including one that came before. */
  notified: (method: string) => Promise<Json>
  /**
   * Releases what the gateway holds for the client. A client that is not used any more is released when its memory is
   * collected.
   */
  close: () => void
}

/** Connects a client to an app that has Patchbay registered, and sends `initialize`. */
export async function createClient (app: FastifyInstance, options: ClientOptions = {}): Promise<Client> {
  checkNames(options)
  const { protocolVersion, capabilities, answers } = options
  const identity = identityOf(options)
  const { view = identity.view } = options
  if (identity.view !== undefined && view !== identity.view) {
    throw new Error(
      `createClient was given the view "${view}", and an identity that is for the view "${identity.view}" alone`
    )
  }
  // With a callback, because avvio's promise form throws where a part of an application asks after the start.
  await new Promise<void>((resolve, reject) => app.ready(error => { if (error) reject(error); else resolve() }))
  if (!app.hasDecorator('mcp')) {
    throw new Error(
      'createClient was given an app without Patchbay: register patchbay first, with await app.register(patchbay), or pass the instance it was registered in'
    )
  }
  const client = new MemoryClient(app.mcp.dispatcher, identity, { ...answersOf(options), ...answers }, view)
  const server = await client.request('initialize', {
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    capabilities: { ...capabilitiesOf(options), ...capabilities },
    clientInfo: { name: 'in-process', version: '1.0.0' }
  })
  client.notify('notifications/initialized')
  return {
    server,
    notifications: client.notifications,
    call: async (tool: Tool | string, args?: unknown, given?: RequestOptions) =>
      await callTool(client, tool, args, given),
    read: async (uri, given) => await readResource(client, uri, given),
    prompt: async (name, args, given) => await getPrompt(client, name, args, given),
    request: async (method, params, signal) => await client.request(method, params, { signal }),
    notify: (method, params) => client.notify(method, params),
    notified: async method => await client.notified(method),
    close: () => client.close()
  }
}

// A slip in `identity` would give the client every right.
function checkNames (options: ClientOptions): void {
  const known = Object.keys(OPTIONS)
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown !== undefined) {
    throw new Error(
      `createClient has no option "${unknown}"${didYouMean(unknown, known) || `; it has ${known.join(', ')}`}`
    )
  }
}

// An unauthenticated request has no identity; passing that on must not be taken for leaving the option out.
function identityOf (options: ClientOptions): Identity {
  if (!('identity' in options)) return ANONYMOUS_ALL_SCOPES
  if (options.identity == null) {
    throw new Error(
      'createClient was given an identity that is not set: answer the request with 401, or leave the option identity out to act with every right'
    )
  }
  if (!isIdentity(options.identity)) {
    throw new Error(`createClient was given an identity of another shape than ${IDENTITY_SHAPE}`)
  }
  return options.identity
}
