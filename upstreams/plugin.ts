import type { ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Call } from '../protocol/dispatch/call.js'
import { upstreamLimits } from '../protocol/wire/limits.js'
import { processSurroundings } from '../system/environment.js'
import { describeForeign } from '../system/files/own-file.js'
import type { KeptValues } from './config/command-values.js'
import type { LeftOut } from './config/findings.js'
import type { ReadEntries, UpstreamSources } from './config/read-entries.js'
import type { Snapshot } from './lists/snapshot.js'
import { createPinPort, type PinPort } from './pins/port.js'
import type { Repair, Upstream, UpstreamStatus } from './ports.js'
import type { Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import { createSignInPort, type SignInPort } from './sign-in/port.js'
import type { SealingOptions } from './sign-in/storable.js'
import type { UpstreamOptions } from './upstream-options.js'
import type { Upstreams } from './upstreams.js'

declare module '../plugins/core/mcp.js' {
  interface Mcp {
    /** Other MCP servers behind this gateway. */
    upstreams: {
      /**
       * Reads the servers that options name, without using them. Those with mistakes are left out. Throws an
       * OptionsError where a whole file cannot be used.
       */
      read: (options: UpstreamSources) => Promise<ReadEntries>
      /** The servers whose program cannot be started, by alias, and why. Nothing is started. */
      missingPrograms: (entries: readonly ServerEntry[]) => Promise<Array<[alias: string, why: string]>>
      /** Sentences about what would be better written otherwise, though nothing is wrong. */
      adviceOn: (entries: readonly ServerEntry[]) => Promise<string[]>
      /**
       * Takes over a configuration. Servers whose entry did not change run on; others are ended or started, which is
       * not waited for. Those that are left out are named in the log and in `/health`.
       */
      configure: (entries: readonly ServerEntry[], leftOut?: readonly LeftOut[]) => Promise<void>
      /**
       * Makes `configure` start no server from now on, for a gateway that is only checked. Lists that are stored are
       * served.
       */
      hold: () => void
      /** True when the lists of a server are known: they were read, or stored at an earlier start. */
      hasLists: (alias: string) => boolean
      status: () => UpstreamStatus[]
      /**
       * The servers that the latest configuration has, and that are left out because of mistakes in it. Not those that
       * stay as they were.
       */
      leftOut: () => readonly LeftOut[]
      /** The lists of a server as they were read, and not yet as clients get them; undefined while none are known. */
      listsOf: (alias: string) => Snapshot | undefined
      /** Holds servers to the definitions that operators accepted. */
      pins: PinPort
      /** Lists the changes in the lists of a server before they were served. */
      repairs: (alias: string) => Repair[]
      /**
       * Starts a server, if need be, and settles when its lists were read. Rejects if that failed: `status` says why.
       */
      readLists: (alias: string, signal: AbortSignal) => Promise<void>
      /**
       * Settles when a call has waited for the servers of its view that were never read, as lists wait for them: for a
       * limited time.
       */
      firstLists: (call: Call) => Promise<unknown>
      get: (alias: string) => Upstream | undefined
      /** Sign-ins of persons to servers. */
      signIns: SignInPort
      /**
       * Asks the caller to sign in to a server, if need be, and connects to it: the result of a tool, or the question.
       */
      signIn: (call: Call, upstream: Upstream) => Promise<Record<string, unknown>>
    }
  }
}

interface PublicOptions { readonly oauth?: { readonly resource: string } | undefined }

/** Connects the gateway to other MCP servers. Their code is loaded with the first of them. */
export default fp(async (fastify, options: UpstreamOptions & SealingOptions & PublicOptions) => {
  const { mcp } = fastify
  let loading: Promise<void> | undefined
  let upstreams: Upstreams | undefined
  let isHeld = false
  const ending = new AbortController()
  const closing = ending.signal
  const entryOf = (alias: string): ServerEntry | undefined => upstreams?.get(alias)?.entry
  let notUsed: readonly LeftOut[] = []
  const commandValues: KeptValues = new Map()
  const pins = createPinPort(mcp.store.values, fastify.log, why => mcp.health.report('pins', why))

  mcp.provide('upstreams', {
    read: async sources => {
      if (Object.keys(sources.mcpServers).length === 0 && sources.mcpConfig.length === 0) {
        return { entries: [], leftOut: [], warnings: [], files: [] }
      }
      const { readEntries } = await import('./config/read-entries.js')
      return await readEntries(sources, { ...processSurroundings(), describeForeign }, commandValues)
    },
    missingPrograms: async entries =>
      (await import('./supervision/child-dial.js')).missingPrograms(entries, options.upstreamProxies),
    adviceOn: async entries => (await import('./lists/offers/names.js')).adviceOnNames(entries),
    configure: async (entries, leftOut = []) => {
      notUsed = leftOut.filter(({ alias }) => !entries.some(entry => entry.alias === alias))
      if (!isHeld) reportLeftOut(fastify, leftOut, entries)
      if (loading === undefined && entries.length === 0) return
      await (loading ??= load().catch((error: unknown) => {
        loading = undefined
        throw error
      }))
      await upstreams?.configure(isHeld ? entries.map(entry => ({ ...entry, start: 'held', pins: undefined })) : entries)
    },
    hold: () => { isHeld = true },
    hasLists: alias => upstreams?.hasLists(alias) === true,
    status: () => upstreams?.status() ?? [],
    leftOut: () => notUsed,
    listsOf: alias => upstreams?.listsOf(alias),
    pins,
    repairs: alias => upstreams?.repairs(alias) ?? [],
    readLists: async (alias, signal) => await upstreams?.readLists(alias, signal),
    firstLists: async call => await upstreams?.firstLists(call),
    get: alias => upstreams?.get(alias),
    signIn: async (call, upstream) => await (await import('./relay/relay-request.js')).relaySignIn(call, upstream),
    signIns: createSignInPort(mcp.store.values, options, { entryOf, publicUrl: publicUrlOf(options), closing })
  })
  mcp.onDrain(() => upstreams?.drain())
  // After the calls in flight were waited for, which is done before this hook.
  fastify.addHook('onClose', async () => {
    ending.abort(new Error('the gateway is closing'))
    await upstreams?.close()
    pins.close()
  })

  async function load (): Promise<void> {
    upstreams = await createUpstreams(fastify, options, () => closing.aborted)
    mcp.dispatcher.awaitTargetsWith(call => upstreams?.awaitedBy(call))
  }
}, { name: 'patchbay-upstreams', dependencies: ['patchbay-mcp', 'patchbay-completeness', 'patchbay-handshake', 'patchbay-health', 'patchbay-node-calls', 'patchbay-prompts', 'patchbay-resources', 'patchbay-tools', 'patchbay-views'] })

/** Loads the code of upstreams; `isEnding` is true once the gateway stops. */
async function createUpstreams (
  { mcp, log }: FastifyInstance,
  options: UpstreamOptions,
  isEnding: () => boolean
): Promise<Upstreams> {
  const [{ Upstreams }, { dialerOf }, { ReplyBudget }, signIns] = await Promise.all([
    import('./upstreams.js'),
    import('./dial.js'),
    import('../transports/client/reply-budget.js'),
    mcp.upstreams.signIns.stored()
  ])
  const unread = (): number => mcp.dispatcher.backlogs.waiting + unreadBytes(mcp.connections?.replies)
  const replies = new ReplyBudget(options.maxUpstreamBytes, options.maxAllUpstreamBytes, unread)
  const dialOptions = { ...options, stopTimeout: () => stopTimeoutOf(options, isEnding()), replies }
  return new Upstreams({
    clientInfo: mcp.dispatcher.server.info,
    values: mcp.store.values,
    nodeCalls: mcp.nodeCalls,
    gateway: mcp,
    log,
    options,
    observer: mcp.dispatcher.observers.upstreamRequest,
    dialerOf: (entry, redact, credential) =>
      dialerOf(entry, dialOptions, lineLogger(log, entry.alias, redact), credential),
    connectToApi: async (entry, own, signal) => {
      const { connectToApi } = await import('./openapi/connection.js')
      const { upstreamRequest: observer } = mcp.dispatcher.observers
      return await connectToApi({ entry, ...own, ...apiLimitsOf(options), replies, observer }, signal)
    },
    signIns,
    pins: mcp.upstreams.pins,
    signInPages: mcp.upstreams.signIns.pages,
    reportHealth: (alias, trouble) => {
      mcp.health.report(`upstream ${alias}`, trouble)
      mcp.health.noteChange()
    }
  })
}

/** Where browsers reach the gateway, as its own access tokens say it: the URL before `/mcp`. */
function publicUrlOf ({ oauth }: PublicOptions): string | undefined {
  if (oauth === undefined) return undefined
  const { origin, pathname } = new URL(oauth.resource)
  return origin + pathname.replace(/\/(mcp)?\/?$/, '')
}

/** How much of the documents and replies of APIs is taken. */
const apiLimitsOf = (options: UpstreamOptions) => ({
  connections: options.maxUpstreamSockets,
  maxQueue: options.maxUpstreamQueue,
  maxDocument: options.maxApiDocument,
  maxSchema: options.maxApiSchema,
  maxOperations: options.maxUpstreamEntries,
  maxReply: options.maxUpstreamMessage,
  limits: upstreamLimits(options.maxUpstreamValues),
  startTimeout: options.upstreamStartTimeout
})

function stopTimeoutOf (
  { stdio, upstreamStopTimeout, upstreamQuickStopTimeout }: UpstreamOptions,
  isEnding: boolean
): number {
  return isEnding && stdio ? Math.min(upstreamStopTimeout, upstreamQuickStopTimeout) : upstreamStopTimeout
}

/** Names the servers that have mistakes in the log and in `/health`. */
function reportLeftOut (
  { log, mcp }: FastifyInstance,
  leftOut: readonly LeftOut[],
  entries: readonly ServerEntry[]
): void {
  for (const { name, alias, mistakes } of leftOut) {
    const outcome = entries.some(entry => entry.alias === alias && entry.name === name)
      ? 'stays as it was'
      : 'is left out'
    log.error({ upstream: alias }, `upstream ${alias} ${outcome}: ${mistakes.map(({ text }) => text).join('; ')}`)
  }
  const names = [...new Set(leftOut.map(({ alias }) => alias))]
  mcp.health.report(
    'upstream configuration',
    names.length === 0 ? undefined : `${names.join(', ')}: the configuration has mistakes, which the log names`
  )
  // The names can be the same, and the mistakes others.
  mcp.health.noteChange()
}

/** How many bytes of replies that are complete wait for clients that have not read them. */
function unreadBytes (replies: Iterable<ServerResponse> | undefined): number {
  let bytes = 0
  for (const { writableEnded, socket } of replies ?? []) if (writableEnded) bytes += socket?.writableLength ?? 0
  return bytes
}

/**
 * Writes what a server writes for people to the log, at level debug and without its secrets; undefined when that is not
 * logged.
 */
function lineLogger (log: FastifyBaseLogger, upstream: string, redact: Redact): ((line: string) => void) | undefined {
  return log.level === 'debug' || log.level === 'trace'
    ? line => log.debug({ upstream }, `standard error of upstream ${upstream}: ${redact(line)}`)
    : undefined
}
