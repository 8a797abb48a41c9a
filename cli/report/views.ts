import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { didYouMean } from '../../lib/nearest-name.js'
import { visible } from '../../lib/one-line.js'
import type { Options } from '../../options.js'
import { httpEntry } from './client-address.js'
import { addressOf } from './clients.js'
import { byTokens, countOf, describeCost, ESTIMATE, type ToolCost, type ViewCost } from './costs.js'

export interface ViewsReport {
  report: string
  /** True when the lists of a server could not be read. */
  isIncomplete: boolean
}

interface Wanted {
  /** The view or server whose tools are wanted; all of them when absent. */
  name: string | undefined
  /** True for JSON in place of text. */
  json: boolean
  /** Ends it early. */
  signal: AbortSignal
}

/** A server whose lists could not be read, or that is left out. */
interface Unread { server: string, why: string }

/**
 * Lists the views with what they have and cost, or the tools of one. Lists of servers are those that a gateway stored
 * in the data folder; servers without are started, read and stopped. Nothing is listened on or written. Throws a
 * sentence if there is no such view.
 */
export async function describeViews (options: Options, { name, json, signal }: Wanted): Promise<ViewsReport> {
  const { build } = await import('../../app.js')
  const { redis, ...local } = options
  const { data, ephemeral } = options
  const app = await build(
    { ...local, ephemeral: true, reload: false },
    { loggerInstance: pino({ level: 'silent' }) },
    ephemeral || redis !== undefined ? undefined : data,
    options
  )
  // Timers of the gateway keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    app.mcp.upstreams.hold()
    await app.ready()
    const unread = await readLists(app, signal)
    const views = await app.mcp.costs.ofViews()
    const lines = name === undefined
      ? listViews(views, unread, options, json)
      : await listTools(app, find(views, name), unread, options, json)
    return { report: `${lines.join('\n')}\n`, isIncomplete: unread.length > 0 }
  } finally {
    await app.close()
    clearInterval(alive)
  }
}

/** Reads the lists of the servers that are not known. Resolves to those that are missing. */
async function readLists ({ mcp: { upstreams } }: FastifyInstance, signal: AbortSignal): Promise<Unread[]> {
  const missing = upstreams.status().filter(({ alias, state }) => state !== 'disabled' && !upstreams.hasLists(alias))
  const failed = await Promise.all(
    missing.map(async ({ alias }) => await upstreams.readLists(alias, signal).then(() => [], () => [alias]))
  )
  signal.throwIfAborted()
  const whyOf = (alias: string): string =>
    upstreams.status().find(known => known.alias === alias)?.lastError ?? 'it did not start'
  return [
    ...failed.flat().map(server => ({ server, why: `could not be read: ${whyOf(server)}` })),
    ...upstreams.leftOut().map(({ alias, mistakes }) => ({
      server: alias,
      why: `is left out: ${mistakes.map(({ text }) => text).join('; ')}`
    }))
  ]
}

/** The view of that name, also where it is written as a path. */
function find (views: readonly ViewCost[], wanted: string): ViewCost {
  const found = views.find(({ name, path }) => name === wanted || path === wanted)
  if (found !== undefined) return found
  const names = views.flatMap(({ name }) => name ?? [])
  throw new Error(
    `there is no view or upstream server "${wanted}"${didYouMean(wanted, names) || '; see patchbay views'}`
  )
}

function listViews (views: readonly ViewCost[], unread: readonly Unread[], options: Options, json: boolean): string[] {
  if (json) return [toJson({ views: views.map(view => withUrl(view, options)), unread })]
  return [
    `What a client loads of each; tokens are ${ESTIMATE}.`,
    ...views.flatMap(view => ['', ...viewLines(view, unread, options)]),
    ...unread
      .filter(({ server }) => !views.some(({ name, kind }) => kind === 'server' && name === server))
      .flatMap(({ server, why }) => ['', `${server} (server): ${why}`])
  ].map(plain)
}

function viewLines (view: ViewCost, unread: readonly Unread[], options: Options): string[] {
  const { name = 'everything', kind, description, found = 0, resources, prompts, remarks } = view
  const failed = kind === 'server' ? unread.find(({ server }) => server === name) : undefined
  const details = [
    placeOf(view, options),
    ...(description === undefined ? [] : [description]),
    ...(failed === undefined ? [] : [failed.why]),
    ...(found === 0 ? [] : [`${countOf(found, 'more tool')} found by search`]),
    ...(resources + prompts === 0 ? [] : [`${countOf(resources, 'resource')}, ${countOf(prompts, 'prompt')}`]),
    ...remarks
  ]
  return [
    `${name}${kind === 'server' ? ' (server)' : ''}: ${describeCost(view)}`,
    ...details.map(line => `  ${line}`)
  ]
}

async function listTools (
  { mcp: { costs } }: FastifyInstance,
  view: ViewCost,
  unread: readonly Unread[],
  options: Options,
  json: boolean
): Promise<string[]> {
  const tools = (await costs.ofTools(view.name)) ?? []
  if (json) return [toJson({ ...withUrl(view, options), tools, unread })]
  const width = Math.max(0, ...tools.map(({ name }) => plain(name).length))
  return [
    ...viewLines(view, unread, options),
    '',
    ...[...tools].sort(byTokens).map(tool => {
      const tokens = tool.tokens.toLocaleString('en').padStart(8)
      return `${tokens}  ${plain(tool.name).padEnd(width)}  ${remarkOn(tool)}`.trimEnd()
    }),
    ...(tools.length === 0 ? [] : ['', `The numbers are tokens of the definitions, ${ESTIMATE}.`])
  ].map(plain)
}

/** How a tool differs from the one that its server or author wrote. */
function remarkOn ({ name, canonical, changed = [], originalTokens = 0 }: ToolCost): string {
  const others = changed.filter(member => member !== 'name')
  return [
    ...(canonical === name ? [] : [`is ${canonical}`]),
    ...(others.length === 0
      ? []
      : [`${others.join(', ')} changed (${originalTokens.toLocaleString('en')} before)`])
  ].join('; ')
}

/** Where a client finds it. */
function placeOf ({ name }: ViewCost, options: Options): string {
  return urlOf(name, options) ?? (name === undefined ? '--stdio' : `--stdio --view ${name}`)
}

function urlOf (view: string | undefined, { view: _own, ...options }: Options): string | undefined {
  if (!options.http) return undefined
  return httpEntry(addressOf(options), { ...options, ...(view !== undefined && { view }) }).url
}

const withUrl = ({ path, ...view }: ViewCost, options: Options): object => ({
  ...view,
  url: urlOf(view.name, options)
})

/** JSON without characters that a terminal might obey. */
const toJson = (value: object): string =>
  JSON.stringify(value, null, 2).replace(/(?!\n)[\p{C}\u2028\u2029]/gu, hidden =>
    hidden.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )

/** A line break in the text of a server does not begin a line that looks like ours. */
const plain = (line: string): string => visible(line).replaceAll('\n', '\\n')
