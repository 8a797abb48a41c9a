import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { withTimeout } from '../../lib/time.js'
import { visible } from '../../lib/one-line.js'
import { LoadTimeout } from '../../loader/register-plugin.js'
import { flatten, type Options } from '../../options.js'
import { OptionsError } from '../../options/mistakes.js'
import { overriddenOptions } from '../../options/embedded.js'
import { definitionsOf } from '../../upstreams/pins/definitions.js'
import { ownersOf } from '../../upstreams/pins/other-tools.js'
import type { ServerEntry } from '../../upstreams/server-entry.js'
import { version } from '../../version.js'
import { anonymousWarning, checkExposure } from '../exposure.js'
import { marksIn } from '../pins/describe.js'
import { describeStartError } from '../process/start-error.js'
import { servedLines } from './banner.js'
import { checkFolder } from './check-folder.js'
import { addressOf } from './clients.js'
import { costLines, operationLines, readCosts, type CostReport } from './costs.js'
import { describeUpstream, inventoryOf, type Inventory } from './inventory.js'

export interface Checked {
  /** The text about everything that would be served; empty if a mistake would keep the gateway from starting. */
  report: string
  /** One sentence each. */
  mistakes: string[]
  /** The mistakes about single upstream servers, without which the gateway starts. */
  aboutServers: string[]
}

type Warn = (sentence: string) => void

/** How long the plugins may take, in milliseconds: less than at a start, because someone waits for the report. */
const PLUGIN_LIMIT = 10_000
/** How long the hooks that close what the plugins opened may take, in milliseconds. */
const CLOSE_LIMIT = 5_000

type Locate = (error: Error) => Error

/**
 * Checks the options, keys, data folder, plugins and upstream servers. Plugins are loaded, but nothing is listened on,
 * written or started. `locate` adds to an error where the options it is about were set. `warn` gets each warning once,
 * as soon as it is known.
 */
export async function check (read: () => Options, locate: Locate, warn: Warn): Promise<Checked> {
  try {
    const options = read()
    const anonymous = anonymousWarning(options)
    for (const sentence of [
      ...(anonymous === undefined ? [] : [anonymous]),
      ...describeExpired(options),
      ...overriddenOptions(options)
    ]) { warn(sentence) }
    const settings = [() => checkExposure(options), () => checkFolder(options)].flatMap(mistakeOf)
    const { served, mistakes, aboutServers = [] } = await tryOut(options, locate, once(warn))
    return {
      report: settings.length > 0 || served === undefined ? '' : visible(describe(options, served)),
      mistakes: [...settings, ...mistakes],
      aboutServers
    }
  } catch (error) {
    return { report: '', mistakes: describeStartError(error as Error, false), aboutServers: [] }
  }
}

function mistakeOf (check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return describeStartError(error as Error, false)
  }
}

/** Leaves out the sentences that were given before. */
function once (warn: Warn): Warn {
  const given = new Set<string>()
  return sentence => {
    if (!given.has(sentence)) warn(sentence)
    given.add(sentence)
  }
}

interface Tried {
  /** Absent if the gateway would not start. */
  served?: { inventory: Inventory, costs: CostReport, operations: string[] }
  mistakes: string[]
  aboutServers?: string[]
}

/** Builds the gateway. If that fails, its parts are tried alone, so that one mistake does not hide another. */
async function tryOut (options: Options, locate: Locate, warn: Warn): Promise<Tried> {
  try {
    return await buildAndList(options, locate, warn)
  } catch (error) {
    const first = describeStartError(locate(error as Error), false)
    const mistakes = await tryParts(options, locate, warn, isTimeout(error) ? first : [])
    return { mistakes: mistakes.length === 0 ? first : mistakes }
  }
}

/**
 * Tries the options without folders, plugins and upstream servers, each folder, each plugin, and the servers. Where a
 * plugin did not end (`late`), no plugin is tried again.
 */
async function tryParts (options: Options, locate: Locate, warn: Warn, late: string[]): Promise<string[]> {
  const { tls, ...rest } = options
  const { mcpServers, mcpConfig } = options
  const none = { roots: [], plugins: [], mcpServers: {}, mcpConfig: [] }
  const bare = { ...rest, ...none }
  const mistakes = new Set<string>()
  const roots = options.roots.map(root => ({ ...bare, roots: [root] }))
  const plugins = late.length > 0 ? [] : options.plugins.map(plugin => ({ ...bare, plugins: [plugin] }))
  for (const part of [{ ...options, ...none }, ...roots, { ...bare, mcpServers, mcpConfig }, ...plugins]) {
    const tried = await buildAndList(part, locate, warn).catch(error => error as Error)
    for (const sentence of tried instanceof Error ? describeStartError(locate(tried), false) : tried.mistakes) {
      mistakes.add(sentence)
    }
    if (isTimeout(tried)) break
  }
  return [...mistakes, ...late]
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.cause instanceof LoadTimeout

/**
 * Finds what a gateway with these options serves, and what is wrong with upstream servers that would be left out or
 * could not be started.
 */
async function buildAndList (options: Options, locate: Locate, warn: Warn): Promise<Required<Tried>> {
  const { build } = await import('../../app.js')
  const { redis, ...local } = options
  const loggerInstance = pino({ level: 'warn' }, { write: line => warn((JSON.parse(line) as { msg: string }).msg) })
  const app = await build(
    { ...local, ephemeral: true, reload: false },
    { loggerInstance, pluginTimeout: PLUGIN_LIMIT },
    options.ephemeral || redis !== undefined ? undefined : options.data
  )
  try {
    app.mcp.upstreams.hold()
    await app.ready()
    if (options.token !== undefined) {
      await app.mcp.identities.authenticate(options.token).catch((error: Error) => {
        throw new Error(`option token is not accepted: ${error.message}`, { cause: error })
      })
    }
    const { entries, leftOut } = await app.mcp.upstreams.read(flatten(options))
    for (const sentence of await app.mcp.upstreams.adviceOn(entries)) warn(sentence)
    for (const sentence of await marksOf(app, entries.map(({ alias }) => alias))) warn(sentence)
    const missing = new Map([...await app.mcp.upstreams.missingPrograms(entries), ...await readDocuments(app, entries)])
    const fetched = entries.filter(isFetched).map(({ alias }) => alias)
    const unread = fetched.filter(alias => !app.mcp.upstreams.hasLists(alias))
    const wrong = leftOut.flatMap(({ mistakes }) => mistakes)
    const upstreams = entries
      .filter(({ alias }) => !missing.has(alias))
      .map(({ alias, disabled }) => describeUpstream(alias, disabled))
    const aboutServers = [
      ...(wrong.length === 0 ? [] : describeStartError(locate(new OptionsError(wrong)), false)),
      ...[...missing].map(([alias, why]) => visible(`upstream ${alias}: ${why}`))
    ]
    return {
      served: {
        inventory: { ...inventoryOf(app), upstreams },
        costs: await readCosts(app, alias => missing.has(alias)),
        operations: await operationLines(app, unread)
      },
      mistakes: aboutServers,
      aboutServers
    }
  } finally {
    // Without it, a process with nothing else to wait for would end before the limit.
    const alive = setTimeout(() => {}, 2 * CLOSE_LIMIT)
    await withTimeout(app.close(), CLOSE_LIMIT, () =>
      warn('a plugin did not close what it opened; see its onClose hooks')
    ).finally(() => clearTimeout(alive))
  }
}

/** Sentences about definitions, as far as they are stored, with what their readers do not see. */
async function marksOf ({ mcp }: FastifyInstance, aliases: readonly string[]): Promise<string[]> {
  const known = aliases.flatMap(alias => {
    const lists = mcp.upstreams.listsOf(alias)
    return lists === undefined ? [] : [{ alias, lists }]
  })
  const offered = known.map(({ alias, lists }) => [alias, definitionsOf(lists)] as const)
  const owners = await ownersOf(offered.map(([alias, { lists }]) => [alias, lists.tools.keys()]))
  return offered.flatMap(([alias, definitions]) =>
    marksIn(alias, definitions, owners).map(mark => `upstream ${alias}: ${mark}`))
}

const isUrl = (document: string): boolean => /^https?:/i.test(document)

/** True for an API whose document would have to be fetched. */
const isFetched = ({ address, disabled }: ServerEntry): boolean =>
  !disabled && address.kind === 'openapi' && isUrl(address.document)

/** Reads the documents of APIs that are files, and names those that cannot be used. Nothing is sent anywhere. */
async function readDocuments (
  { mcp: { upstreams } }: FastifyInstance,
  entries: readonly ServerEntry[]
): Promise<Array<[string, string]>> {
  const wrong: Array<[string, string]> = []
  for (const { alias, address, disabled } of entries) {
    if (disabled || address.kind !== 'openapi' || isUrl(address.document)) continue
    const isRead = await upstreams.readLists(alias, AbortSignal.timeout(PLUGIN_LIMIT)).then(() => true, () => false)
    if (!isRead) wrong.push([alias, upstreams.status().find(status => status.alias === alias)?.lastError ?? 'its document could not be read'])
  }
  return wrong
}

function describeExpired ({ apiKeys }: Options): string[] {
  return apiKeys
    .filter(({ expires }) => expires !== undefined && Date.parse(expires) < Date.now())
    .map(({ name, expires }) => `option apiKeys: the key of ${name} expired on ${expires}`)
}

function describe (options: Options, { inventory, costs, operations }: NonNullable<Tried['served']>): string {
  const address = options.http ? addressOf(options) : undefined
  return [
    `patchbay ${version} would serve this; nothing was started.`,
    '',
    ...servedLines({ version, address, options, inventory }),
    '',
    ...costLines(costs, options.prefix),
    ...operations,
    ''
  ].join('\n')
}
