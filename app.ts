import { maxHeaderSize } from 'node:http'
import { dirname } from 'node:path'
import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { gateway } from './gateway.js'
import { escapeUndecodable } from './lib/network.js'
import { builtIns } from './loader/built-ins.js'
import { isAskedFor, isQuiet } from './loader/demonstration.js'
import { contribute } from './loader/load-file.js'
import { loadPlugins } from './loader/load-plugins.js'
import { loadDeadline } from './loader/register-plugin.js'
import { checkoutFolders } from './loader/checkout.js'
import { unknownNames } from './loader/unknown-names.js'
import { flatten, resolveOptions, type FlatOptions, type Options } from './options.js'
import { clashingNames, takenViewNames } from './options/curation.js'
import { ignoredOptions } from './options/embedded.js'
import { OptionsError } from './options/mistakes.js'
import { expressionsIn, wrongExpressions } from './options/results.js'
import { serverOptions } from './options/server-options.js'
import commands from './plugins/builtin/commands.js'
import clipboard from './plugins/builtin/clipboard.js'
import routeTools from './plugins/http/route-tools.js'
import files from './plugins/builtin/files.js'
import notes from './plugins/builtin/notes.js'
import webSearch from './plugins/builtin/web-search.js'
import { openStore } from './stores/open-store.js'
import type { ServerEntry } from './upstreams/server-entry.js'
import { version } from './version.js'

// So that programs that import this package see what each plugin adds to the type of `app.mcp`.
export type {} from './plugins/core/scopes.js'
export type {} from './plugins/security/auth.js'
export type {} from './plugins/builtin/commands.js'
export type {} from './plugins/builtin/clipboard.js'
export type {} from './plugins/http/connections.js'
export type {} from './plugins/http/event-streams.js'
export type {} from './plugins/http/expect-continue.js'
export type {} from './plugins/core/health.js'
export type {} from './plugins/core/completeness.js'
export type {} from './plugins/core/hops.js'
export type {} from './plugins/core/views.js'
export type {} from './plugins/builtin/files.js'
export type {} from './plugins/core/unavailable.js'
export type { Mcp } from './plugins/core/mcp.js'
export type {} from './plugins/observability/metrics.js'
export type {} from './plugins/builtin/notes.js'
export type {} from './plugins/security/origin.js'
export type {} from './plugins/capabilities/pagination.js'
export type {} from './plugins/security/pressure.js'
export type {} from './plugins/capabilities/prompts.js'
export type {} from './plugins/security/rate-limiter.js'
export type {} from './plugins/security/readiness.js'
export type {} from './plugins/capabilities/resources.js'
export type {} from './plugins/http/route-tools.js'
export type {} from './plugins/http/sessions.js'
export type {} from './plugins/capabilities/skills.js'
export type {} from './plugins/capabilities/subscriptions.js'
export type {} from './plugins/capabilities/tools.js'
export type {} from './plugins/curation/costs.js'
export type {} from './plugins/curation/results.js'
export type {} from './plugins/curation/search.js'
export type {} from './plugins/curation/views.js'
export type {} from './plugins/builtin/web-search.js'
export type {} from './upstreams/plugin.js'
export type { Options } from './options.js'
export type { Identity } from './protocol/wire/identity.js'
export type { Call } from './protocol/dispatch/call.js'
export type { Store, Values } from './protocol/store.js'
export type { ContentBlock } from './protocol/wire/content.js'
export { McpError, ToolError } from './protocol/wire/errors.js'
export { prompt, type Prompt } from './protocol/definitions/prompt.js'
export { resource, type Resource } from './protocol/definitions/resource.js'
export { tool, type Tool } from './protocol/definitions/tool.js'
export { serveStdio, type Stdio } from './transports/stdio/serve.js'
export { createClient, type Client, type ClientOptions } from './transports/memory/create-client.js'
export { version }
// One import for authors: a CommonJS folder would get other types of TypeBox than ours, and pnpm does not let it see
// our packages.
export { Type, type Static, type TSchema } from '@sinclair/typebox'
export type { FastifyInstance } from 'fastify'

/**
 * Patchbay as a Fastify plugin: `await fastify.register(patchbay, options)` in an application that already exists.
 * Without built-in tools unless `tools` is true.
 */
export const patchbay = fp(async (fastify: FastifyInstance, given: Partial<Options>) => {
  await assemble(fastify, flatten(resolveOptions({ ...given, tools: given.tools ?? false })), false)
  for (const sentence of ignoredOptions(given)) fastify.log.warn(sentence)
}, { name: 'patchbay', fastify: '5.x' })

/**
 * A gateway of its own: a Fastify application that serves nothing else. With `knownFrom` it begins with the lists of
 * upstream servers that another one has in this data folder, where nothing is written; with `signInsOf` it uses the
 * sign-ins that one with these options has stored, and renews them there.
 */
export async function build (
  given: Partial<Options> = {},
  server: FastifyServerOptions = {},
  knownFrom?: string,
  signInsOf?: Partial<Options>
): Promise<FastifyInstance> {
  const options = flatten(resolveOptions(given))
  const app = Fastify({
    bodyLimit: options.maxMessage,
    pluginTimeout: Math.max(30_000, 2 * options.grace + 10_000),
    requestTimeout: options.requestTimeout,
    ...(await serverOptions(options)),
    keepAliveTimeout: 72_000,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines about a request carry its id; a child logger for each request would cost more than the rest of Fastify.
    childLoggerFactory: logger => logger,
    exposeHeadRoutes: false,
    // Fastify's own 414 repeats the path, so every name that Node.js lets in is looked up, and not found as others.
    routerOptions: { maxParamLength: maxHeaderSize },
    // Fastify's own 503 has no reason and no Retry-After; ours has.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => escapeUndecodable(url),
    ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    ...server
  })
  // Node.js drops the headers beyond this count without an error, so it must be above our own limit.
  app.server.maxHeadersCount = Math.max(2_000, options.maxHeaders + 1)
  try {
    await app.register(standaloneGateway, options)
    if (knownFrom !== undefined) await recallLists(app, knownFrom)
    if (signInsOf !== undefined) {
      const { shareSignIns } = await import('./upstreams/sign-in/share.js')
      await shareSignIns(app, flatten(resolveOptions(signInsOf)), openStore)
    }
  } catch (error) {
    // The store may be open already.
    await app.close()
    throw error
  }
  return app
}

async function recallLists ({ mcp: { store } }: FastifyInstance, folder: string): Promise<void> {
  const [{ readValues }, { SPACE }] = await Promise.all([
    import('./stores/disk/read-values.js'),
    import('./upstreams/lists/stored-lists.js')
  ])
  for (const { key, value } of readValues(folder, SPACE)) await store.values.put(SPACE, key, value)
}

const standaloneGateway = fp(async (fastify: FastifyInstance, options: FlatOptions) => {
  await assemble(fastify, options, true)
}, { name: 'patchbay' })

const TAKEN =
  'this application has a decorator "mcp" of its own, and patchbay adds one of that name; rename it, or add it in a scope that patchbay is not in'

/** Registers what the options ask for, in the order in which the plugins need each other. */
async function assemble (fastify: FastifyInstance, options: FlatOptions, standalone: boolean): Promise<void> {
  if (fastify.hasPlugin('patchbay-mcp')) {
    throw new Error('patchbay is registered here already; register it in two scopes to have it twice')
  }
  if (fastify.hasDecorator('mcp')) throw new Error(TAKEN)
  const deadline = loadDeadline(fastify)
  await fastify.register(gateway, { ...options, standalone })
  await fastify.register(routeTools, options)
  if (standalone && !isPrivate(options)) {
    await fastify.register((await import('./http-server.js')).requestChecks, options)
  }
  if (options.http) await fastify.register((await import('./http-server.js')).httpServer, options)
  // In a checkout, the built-in definitions are watched, too, and therefore loaded from their sources.
  const folders = options.tools !== false && options.reload ? checkoutFolders() : []
  const isServed = (file: string): boolean => isAskedFor(file, options)
  if (options.tools !== false) await fastify.register(builtInServices, options)
  if (options.tools !== false && folders.length === 0) {
    for (const [url, module] of await builtIns()) {
      if (isServed(url.pathname)) await contribute(fastify, url, () => module)
    }
  }
  await loadPlugins(
    fastify,
    { ...options, plugins: [...folders, ...options.plugins] },
    file => !folders.includes(dirname(file)) || isServed(file),
    deadline
  )
  if (standalone && options.http) await fastify.register((await import('./http-server.js')).probes, options)
  // A host application listens where it wants.
  const upstreamEntries = await configureUpstreams(fastify, standalone ? options : { ...options, http: false })
  fastify.addHook('onReady', async () => await configureViews(fastify, options))
  if (options.redis !== undefined) {
    const [{ default: provideNodeOptions }, { fingerprintsOf }] = await Promise.all([
      import('./plugins/core/node-options.js'),
      import('./options/node-options.js')
    ])
    provideNodeOptions(
      fastify,
      why => fastify.mcp.health.report('nodes', why),
      async () => await fingerprintsOf(options, upstreamEntries)
    )
  }
  fastify.addHook('onReady', async () => {
    for (const sentence of unknownNames(fastify.mcp, options, upstreamEntries)) fastify.log.warn(sentence)
  })
}

/**
 * Reads which servers there are behind the gateway. They are started when everything else is ready, and not waited for.
 */
async function configureUpstreams (fastify: FastifyInstance, options: FlatOptions): Promise<ServerEntry[]> {
  const { entries, leftOut, warnings } = await fastify.mcp.upstreams.read(options)
  const mistakes = [
    ...takenViewNames(options.views, [...entries, ...leftOut]),
    ...await wrongExpressions(expressionsIn(options.views, entries), fastify.mcp.results.explainExpression)
  ]
  if (mistakes.length > 0) throw new OptionsError(mistakes)
  for (const sentence of warnings) fastify.log.warn(sentence)
  if (entries.length + leftOut.length > 0) {
    fastify.addHook('onReady', async () => await fastify.mcp.upstreams.configure(entries, leftOut))
  }
  return entries
}

/** Opens the views, when everything that is known at the start is served. */
async function configureViews ({ mcp }: FastifyInstance, { views }: FlatOptions): Promise<void> {
  const { curation, additions } = mcp
  const mistakes = [...await curation.missingIn(views), ...clashingNames(await curation.clashesIn(views))]
  if (mistakes.length > 0) throw new OptionsError(mistakes)
  await curation.configure(views)
  await additions.settle()
}

/** True when only the client that started the command can reach it, and needs no credential. */
function isPrivate ({ stdio, http, token, apiKeys, oauth }: FlatOptions): boolean {
  return stdio && !http && token === undefined && apiKeys.length === 0 && oauth === undefined
}

/** The services that the built-in tools, resources and prompts use. */
const builtInServices = fp(async (fastify: FastifyInstance, options: FlatOptions) => {
  await fastify.register(notes, { maxNotes: options.maxNotes, maxNote: options.maxNote })
  await fastify.register(commands, { commands: options.commands, allowForwarded: options.allowForwarded })
  await fastify.register(files, { roots: options.roots, maxFile: options.maxFile, data: options.data })
  await fastify.register(clipboard, { ...options, wanted: !isQuiet(options) || options.clipboard.remote })
  await fastify.register(webSearch, { searchUrl: options.searchUrl, searchTimeout: options.searchTimeout })
})
