import { randomBytes } from 'node:crypto'
import type { ServerOptions } from 'node:http'
import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { builtIns } from './loader/built-ins.js'
import { contribute, loadFile } from './loader/load-file.js'
import { unknownNames } from './loader/unknown-names.js'
import { authentication, resolveOptions, type Options } from './options.js'
import { challenge } from './protocol/http/challenge.js'
import { LIMITS } from './protocol/wire/limits.js'
import { prefixSpaces, type Store } from './protocol/store.js'
import access from './plugins/core/scopes.js'
import audit from './plugins/observability/audit.js'
import cancellation from './plugins/capabilities/cancellation.js'
import commands from './plugins/builtin/commands.js'
import clipboard from './plugins/builtin/clipboard.js'
import completion from './plugins/capabilities/completion.js'
import elicitation from './plugins/capabilities/elicitation.js'
import health from './plugins/core/health.js'
import files from './plugins/builtin/files.js'
import inventory from './plugins/core/unavailable.js'
import lifecycle from './plugins/capabilities/lifecycle.js'
import logging from './plugins/capabilities/logging.js'
import mcp from './plugins/core/mcp.js'
import notes from './plugins/builtin/notes.js'
import pagination from './plugins/capabilities/pagination.js'
import pressure from './plugins/security/pressure.js'
import prompts from './plugins/capabilities/prompts.js'
import rates from './plugins/security/rate-limiter.js'
import resources from './plugins/capabilities/resources.js'
import roots from './plugins/capabilities/roots.js'
import sampling from './plugins/capabilities/sampling.js'
import store from './plugins/core/store.js'
import subscriptions from './plugins/capabilities/subscriptions.js'
import tools from './plugins/capabilities/tools.js'
import webSearch from './plugins/builtin/web-search.js'
import { memoryStore } from './stores/memory/store.js'
import { version } from './version.js'

// What the plugins add to Fastify's types has to reach whoever imports this package.
export type {} from './plugins/core/scopes.js'
export type {} from './plugins/security/auth.js'
export type {} from './plugins/builtin/commands.js'
export type {} from './plugins/builtin/clipboard.js'
export type {} from './plugins/http/connections.js'
export type {} from './plugins/http/event-streams.js'
export type {} from './plugins/core/health.js'
export type {} from './plugins/builtin/files.js'
export type {} from './plugins/core/unavailable.js'
export type {} from './plugins/core/mcp.js'
export type {} from './plugins/builtin/notes.js'
export type {} from './plugins/security/origin.js'
export type {} from './plugins/capabilities/pagination.js'
export type {} from './plugins/security/pressure.js'
export type {} from './plugins/capabilities/prompts.js'
export type {} from './plugins/security/rate-limiter.js'
export type {} from './plugins/security/readiness.js'
export type {} from './plugins/capabilities/resources.js'
export type {} from './plugins/http/sessions.js'
export type {} from './plugins/core/store.js'
export type {} from './plugins/capabilities/subscriptions.js'
export type {} from './plugins/capabilities/tools.js'
export type {} from './plugins/builtin/web-search.js'
export type { Options } from './options.js'
export type { Identity } from './protocol/wire/identity.js'
export type { Call } from './protocol/dispatch/call.js'
export type { Store, Values } from './protocol/store.js'
export type { ContentBlock } from './protocol/wire/content.js'
export { McpError, ToolError } from './protocol/wire/errors.js'
export { prompt } from './protocol/definitions/prompt.js'
export { resource } from './protocol/definitions/resource.js'
export { tool } from './protocol/definitions/tool.js'
export { serveStdio, type Stdio } from './transports/stdio/serve.js'
export { createClient, type Client, type ClientOptions } from './transports/memory.js'
export { version }

/** Patchbay as a Fastify plugin: `await fastify.register(patchbay, options)` in an application that already exists. Without built-in tools unless `tools` is true. */
export const patchbay = fp(async (fastify: FastifyInstance, given: Partial<Options>) => {
  if (fastify.hasDecorator('mcp')) throw new Error('patchbay is registered here already; register it in two scopes to have it twice')
  const options = resolveOptions({ ...given, tools: given.tools ?? false })
  await fastify.register(capabilities, options)
  if (options.http) await fastify.register((await import('./http-server.js')).doors, options)
  if (options.tools) {
    await fastify.register(facilities, options)
    for (const [url, module] of await builtIns()) await contribute(fastify, url, () => module)
  }
  for (const plugin of options.plugins) {
    if (typeof plugin === 'string') await loadFile(fastify, plugin)
    else await fastify.register(plugin)
  }
  fastify.addHook('onReady', async () => { for (const sentence of unknownNames(fastify, options)) fastify.log.warn(sentence) })
}, { name: 'patchbay', fastify: '5.x' })

/** A gateway of its own: a Fastify application that serves nothing else. */
export async function build (given: Partial<Options> = {}, server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const options = resolveOptions(given)
  const app = Fastify({
    bodyLimit: options.maxMessage,
    pluginTimeout: Math.max(30_000, 2 * options.grace + 10_000),
    requestTimeout: options.requestTimeout,
    http: timeouts(options),
    keepAliveTimeout: 72_000,
    logController: new LogController({ disableRequestLogging: true }),
    // What has to be said of a request is said with its id; a logger for each of them would cost more than the rest of Fastify.
    childLoggerFactory: logger => logger,
    exposeHeadRoutes: false,
    // Fastify's own refusal says neither why nor for how long.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routable(url),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    ...server
  })
  // Node.js leaves out what is beyond, and that may be what is needed.
  app.server.maxHeadersCount = Math.max(2_000, options.maxHeaders + 1)
  if (!isPrivate(options)) await app.register((await import('./http-server.js')).guards, options)
  await app.register(patchbay, { ...given, tools: options.tools })
  return app
}

/** Whoever starts the command is the only one who can reach it, and nobody has to say who they are. */
function isPrivate ({ stdio, http, token, apiKeys, oauth }: Options): boolean {
  return stdio && !http && token === undefined && apiKeys.length === 0 && oauth === undefined
}

/** Node.js looks now and then who is late, and wants headers to be due before the whole request is. */
function timeouts ({ headersTimeout, requestTimeout }: Options): ServerOptions {
  const first = Math.min(headersTimeout, requestTimeout)
  return { headersTimeout: first, requestTimeout, connectionsCheckingInterval: Math.min(first, 5_000) }
}

/** One MCP capability each, in the order they need each other. */
const capabilities = fp(async (fastify: FastifyInstance, options: Options) => {
  const { name, instructions, pageSize, maxCapabilities } = options
  await fastify.register(inventory)
  await fastify.register(store, { store: await openStore(options) })
  await fastify.register(mcp, {
    info: { name, version },
    ...(instructions === undefined ? {} : { instructions }),
    secret: options.secret ?? await ownSecret(fastify.store),
    store: prefixSpaces(fastify.store.values, 'tools/'),
    limits: pick(options, Object.keys(LIMITS) as Array<keyof typeof LIMITS>),
    challenge: scopes => challenge(authentication(fastify, options).challenger, { error: 'insufficient_scope', description: 'this needs more than was granted', scopes })
  })
  if (options.audit) await fastify.register(audit)
  await fastify.register(health)
  await fastify.register(pressure, pick(options, ['maxEventLoopDelay', 'maxHeap', 'maxRss']))
  await fastify.register(access, { scopes: options.scopes })
  await fastify.register(lifecycle, { maxCapabilities })
  for (const plugin of [logging, cancellation]) await fastify.register(plugin)
  await fastify.register(subscriptions, { maxSubscriptions: options.maxSubscriptions, maxSubscriptionText: options.maxSubscriptionText })
  await fastify.register(pagination, { pageSize })
  await fastify.register(resources, { maxSubscriptions: options.maxSubscriptions, maxSubscriptionText: options.maxSubscriptionText, maxUri: options.maxUri })
  for (const plugin of [tools, prompts, completion, sampling, elicitation, roots]) await fastify.register(plugin)
  await fastify.register(rates, options)
})

async function openStore ({ data, ephemeral, maxData }: Options): Promise<Store> {
  if (ephemeral || data === undefined) return memoryStore()
  // The engine is loaded by those who need it.
  const { diskStore } = await import('./stores/disk/store.js')
  return diskStore(data, maxData)
}

/** One secret for all who share the store, made by the first. */
async function ownSecret ({ values }: Store): Promise<string> {
  await values.put('patchbay', 'secret', randomBytes(32).toString('base64url'), { ifAbsent: true })
  return await values.get('patchbay', 'secret') as string
}

/** What the built-in tools, resources and prompts stand on. */
const facilities = fp(async (fastify: FastifyInstance, options: Options) => {
  await fastify.register(notes, { maxNotes: options.maxNotes, maxNote: options.maxNote })
  await fastify.register(commands, { commands: options.commands, allowForwarded: options.allowForwarded })
  await fastify.register(files, { roots: options.roots, maxFile: options.maxFile, data: options.data })
  await fastify.register(clipboard, options)
  await fastify.register(webSearch, { searchUrl: options.searchUrl, searchTimeout: options.searchTimeout })
})

/** Fastify answers what cannot be decoded past all hooks; like this it is one more URL that nobody serves. */
function routable (url: string): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split(/[?#;]/, 1)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
}

function pick<T extends object, K extends keyof T> (all: T, names: K[]): Pick<T, K> {
  return Object.fromEntries(names.map(name => [name, all[name]])) as Pick<T, K>
}
