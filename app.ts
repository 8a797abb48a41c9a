import { randomBytes } from 'node:crypto'
import type { ServerOptions } from 'node:http'
import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { authentication } from './authentication.js'
import { builtIns } from './builtins.js'
import { contribute, loadFile } from './loader.js'
import { unknownNames } from './names.js'
import { resolveOptions, type Options } from './options.js'
import { challenge } from './protocol/challenge.js'
import { LIMITS } from './protocol/limits.js'
import { scoped, type Store } from './protocol/store.js'
import access from './plugins/access.js'
import audit from './plugins/audit.js'
import cancellation from './plugins/cancellation.js'
import commands from './plugins/commands.js'
import clipboard from './plugins/clipboard.js'
import completion from './plugins/completion.js'
import elicitation from './plugins/elicitation.js'
import health from './plugins/health.js'
import files from './plugins/files.js'
import inventory from './plugins/inventory.js'
import lifecycle from './plugins/lifecycle.js'
import logging from './plugins/logging.js'
import mcp from './plugins/mcp.js'
import notes from './plugins/notes.js'
import pagination from './plugins/pagination.js'
import pressure from './plugins/pressure.js'
import prompts from './plugins/prompts.js'
import rates from './plugins/rates.js'
import resources from './plugins/resources.js'
import roots from './plugins/roots.js'
import sampling from './plugins/sampling.js'
import store from './plugins/store.js'
import subscriptions from './plugins/subscriptions.js'
import tools from './plugins/tools.js'
import webSearch from './plugins/web-search.js'
import { memoryStore } from './stores/memory.js'
import { version } from './version.js'

// What the plugins add to Fastify's types has to reach whoever imports this package.
export type {} from './plugins/access.js'
export type {} from './plugins/auth.js'
export type {} from './plugins/commands.js'
export type {} from './plugins/clipboard.js'
export type {} from './plugins/connections.js'
export type {} from './plugins/events.js'
export type {} from './plugins/health.js'
export type {} from './plugins/files.js'
export type {} from './plugins/inventory.js'
export type {} from './plugins/mcp.js'
export type {} from './plugins/notes.js'
export type {} from './plugins/origin.js'
export type {} from './plugins/pagination.js'
export type {} from './plugins/pressure.js'
export type {} from './plugins/prompts.js'
export type {} from './plugins/rates.js'
export type {} from './plugins/readiness.js'
export type {} from './plugins/resources.js'
export type {} from './plugins/sessions.js'
export type {} from './plugins/store.js'
export type {} from './plugins/subscriptions.js'
export type {} from './plugins/tools.js'
export type {} from './plugins/web-search.js'
export type { Options } from './options.js'
export type { Identity } from './protocol/identity.js'
export type { Call } from './protocol/call.js'
export type { Store, Values } from './protocol/store.js'
export type { ContentBlock } from './protocol/content.js'
export { McpError, ToolError } from './protocol/errors.js'
export { prompt } from './protocol/prompt.js'
export { resource } from './protocol/resource.js'
export { tool } from './protocol/tool.js'
export { serveStdio, type Stdio } from './transports/stdio.js'
export { createClient, type Client, type ClientOptions } from './transports/memory.js'
export { version }

/** Patchbay as a Fastify plugin: `await fastify.register(patchbay, options)` in an application that already exists. Without built-in tools unless `tools` is true. */
export const patchbay = fp(async (fastify: FastifyInstance, given: Partial<Options>) => {
  if (fastify.hasDecorator('mcp')) throw new Error('patchbay is registered here already; register it in two scopes to have it twice')
  const options = resolveOptions({ ...given, tools: given.tools ?? false })
  await fastify.register(capabilities, options)
  if (options.http) await fastify.register((await import('./doors.js')).doors, options)
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
  if (!isPrivate(options)) await app.register((await import('./doors.js')).guards, options)
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
    store: scoped(fastify.store.values, 'tools/'),
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
  const { diskStore } = await import('./stores/disk.js')
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
