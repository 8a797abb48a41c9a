import { isDeepStrictEqual } from 'node:util'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { unknownNames } from '../loader/unknown-names.js'
import { flatten, type FlatOptions, type Options } from '../options.js'
import { clashingNames, takenViewNames } from '../options/curation.js'
import { OptionsError } from '../options/mistakes.js'
import { expressionsIn, wrongExpressions } from '../options/results.js'

type Name = keyof FlatOptions

/** Names that were added to, removed from and changed in a set. */
interface Changes { added: string[], removed: string[], changed: string[] }

/** The options that can change while the gateway runs. */
const RELOADABLE = [
  'apiKeys',
  'scopes',
  'rules',
  'rulesDefault',
  'rate',
  'burst',
  'toolRates',
  'mcpServers',
  'mcpConfig',
  'maxMcpConfig',
  'schemas',
  'pins',
  'views'
] as const satisfies Name[]

/** The options of what is replaced after all others. */
const LAST: readonly Name[] = ['mcpServers', 'mcpConfig', 'maxMcpConfig', 'schemas', 'pins', 'views']

const NO_KEYS =
  'option apiKeys has no key left: no caller is let in until there is one, or until a restart without authentication'

export interface Reloading {
  app: FastifyInstance
  logger: FastifyBaseLogger
  /** The options that are in use. */
  options: Options
  /** Reads the options again. Throws a sentence if they cannot be served. */
  read: () => Options
  /** Adds to an error where the options it is about were set. */
  locate: (error: Error) => Error
  /** Hears which files of clients there are. */
  onFiles: (files: string[]) => void
}

/**
 * Returns a function that reads the options and the files of clients again and applies what can change while the
 * gateway runs; for `servers` alone that is option mcpServers. If something in them is wrong, all present ones stay. If
 * the gateway fails while it takes them over, the log says so, and the next reload takes over the rest.
 * Changes are logged by name, never with values. Calls while one is under way are answered by one more.
 */
export function reloader (
  { app, logger, options, read, locate, onFiles }: Reloading
): (scope?: 'all' | 'servers') => void {
  let present = flatten(options)
  /** The names of what a reload that failed did not take over for certain. */
  let unfinished: Name[] | undefined
  let waiting: 'all' | 'servers' | undefined
  let running: Promise<void> = Promise.resolve()

  async function reload (): Promise<void> {
    const scope = waiting
    waiting = undefined
    let taken: Name[] | undefined
    try {
      const given = flatten(read())
      const next = scope === 'servers' ? { ...present, mcpServers: given.mcpServers } : given
      if (scope === 'servers' && unfinished === undefined && isDeepStrictEqual(next, present)) return
      const found = await app.mcp.upstreams.read(next)
      const { warnings, files } = found
      const leftOut = found.leftOut.map(server => ({ ...server, mistakes: withPlaces(server.mistakes, locate) }))
      const entries = withFormer(app, found)
      await checkViews(app, next, entries, leftOut)
      onFiles(files)
      const changed = [...new Set([...changesOf(present, next), ...unfinished ?? []])].sort()
      const restart = changed.filter(name => !canChange(app, name))
      const now = changed.filter(name => !restart.includes(name))
      const keys = apply(app, now, next)
      taken = now
      present = { ...present, ...Object.fromEntries(now.map(name => [name, next[name]])) }
      // A server that is new may have the name of a view that is gone.
      await app.mcp.curation.closeOthers(Object.keys(next.views))
      await app.mcp.upstreams.pins.reload()
      const upstreams = await replaceUpstreams(app, entries, leftOut)
      await app.mcp.curation.configure(next.views)
      await app.mcp.additions.settle()
      unfinished = undefined
      report(logger, { changed: now, restart, keys, upstreams })
      for (const sentence of warnings) logger.warn(sentence)
      if (now.includes('apiKeys') && next.apiKeys.length === 0 && next.oauth === undefined) logger.warn(NO_KEYS)
      for (const sentence of now.length === 0 ? [] : unknownNames(app.mcp, present, entries)) logger.warn(sentence)
      await publishOptions(app, present, entries)
    } catch (error) {
      unfinished = taken ?? unfinished
      const why = locate(error as Error).message.split(/\s*\n\s*/).join('; ')
      logger.error(`${taken === undefined ? 'options not reloaded, the previous ones stay' : inPart(taken)}: ${why}`)
    }
  }

  return (scope = 'all') => {
    const isWaiting = waiting !== undefined
    waiting = waiting === 'all' ? 'all' : scope
    if (!isWaiting) running = running.then(reload)
  }
}

/** Says what a reload that failed took over. Servers and views come last, and take more than a moment. */
function inPart (taken: Name[]): string {
  const sure = taken.filter(name => !LAST.includes(name))
  const rest = 'servers and views may be the previous ones; reload again, or restart'
  return `options reloaded in part, ${sure.length === 0 ? '' : `${sure.join(', ')} as they are now, but `}${rest}`
}

/** Throws when views cannot be served beside each other and beside the servers. */
async function checkViews (
  { mcp: { curation, results } }: FastifyInstance,
  { views }: FlatOptions,
  entries: Entry[],
  leftOut: LeftOut[]
): Promise<void> {
  const mistakes = [
    ...takenViewNames(views, [...entries, ...leftOut]),
    ...await curation.missingIn(views),
    ...clashingNames(await curation.clashesIn(views)),
    ...await wrongExpressions(expressionsIn(views, entries), results.explainExpression)
  ]
  if (mistakes.length > 0) throw new OptionsError(mistakes)
}

/** Tells other nodes on the same Redis which options this one has now. */
async function publishOptions ({ mcp }: FastifyInstance, options: FlatOptions, entries: Entry[]): Promise<void> {
  if (!('nodeOptions' in mcp)) return
  const { fingerprintsOf } = await import('../options/node-options.js')
  await mcp.nodeOptions.publish(await fingerprintsOf(options, entries))
}

function changesOf (present: FlatOptions, next: FlatOptions): Name[] {
  const names = [...new Set([...Object.keys(present), ...Object.keys(next)])] as Name[]
  return names.filter(name => !isDeepStrictEqual(present[name], next[name])).sort()
}

/**
 * True for an option that a reload may change. The need for a credential is decided at start: removing the last key
 * lets no caller in, and a first key needs a restart.
 */
function canChange (app: FastifyInstance, name: Name): boolean {
  if (name === 'apiKeys') return 'identities' in app.mcp && app.mcp.identities.required
  return (RELOADABLE as readonly Name[]).includes(name)
}

// The keys first, because only they can still be refused.
function apply (app: FastifyInstance, changed: Name[], next: FlatOptions): Changes | undefined {
  const keys = changed.includes('apiKeys') ? namesIn(app.mcp.identities.replaceKeys(next.apiKeys)) : undefined
  // Also after a change of the scopes of keys: their callers get `list_changed` notifications.
  if (changed.includes('scopes') || (keys?.changed.length ?? 0) > 0) app.mcp.scopes.replaceScopes(next.scopes)
  if (changed.includes('rules') || changed.includes('rulesDefault')) app.mcp.rules.replace(next)
  if (changed.some(name => name === 'rate' || name === 'burst' || name === 'toolRates')) {
    app.mcp.rateLimiter.replace(next)
  }
  return keys
}

/** Without the holders of the keys, which are not logged. */
const namesIn = ({ added, removed, changed }: Changes): Changes => ({ added, removed, changed })

type Read = Awaited<ReturnType<FastifyInstance['mcp']['upstreams']['read']>>
type Entry = Read['entries'][number]
type LeftOut = Read['leftOut'][number]

/** The mistakes, with where the options they are about were set. */
const withPlaces = (mistakes: LeftOut['mistakes'], locate: (error: Error) => Error): LeftOut['mistakes'] =>
  locate(new OptionsError(mistakes)).message.split('\n').map(text => ({ path: '', text }))

/**
 * The entries, and the present ones of servers whose new entry has a mistake, each behind the server that it is behind
 * now: the first has a contested name.
 */
function withFormer ({ mcp: { upstreams } }: FastifyInstance, { entries, leftOut }: Read): Entry[] {
  const former = leftOut
    .map(({ alias, name }) => ({ name, entry: upstreams.get(alias)?.entry }))
    .flatMap(({ name, entry }) =>
      entry?.name === name && !entries.some(({ alias }) => alias === entry.alias) ? [entry] : []
    )
  const present = upstreams.status().map(({ alias }) => alias)
  const all = [...entries]
  for (const entry of [...new Set(former)].sort(
    (one, other) => present.indexOf(one.alias) - present.indexOf(other.alias)
  )) {
    const before = present.slice(0, present.indexOf(entry.alias))
    all.splice(all.findLastIndex(({ alias }) => before.includes(alias)) + 1, 0, entry)
  }
  return all
}

/** Takes over the servers; those whose entry is the same run on. */
async function replaceUpstreams (
  { mcp: { upstreams } }: FastifyInstance,
  entries: Entry[],
  leftOut: LeftOut[]
): Promise<Changes> {
  const before = new Map(upstreams.status().map(({ alias }) => [alias, upstreams.get(alias)?.entry]))
  const after = new Map(entries.map(entry => [entry.alias, entry]))
  await upstreams.configure(entries, leftOut)
  return {
    added: [...after.keys()].filter(alias => !before.has(alias)),
    removed: [...before.keys()].filter(alias => !after.has(alias)),
    changed: [...after]
      .filter(([alias, entry]) => before.has(alias) && !isDeepStrictEqual(before.get(alias), entry))
      .map(([alias]) => alias)
  }
}

const NO_CHANGES: Changes = { added: [], removed: [], changed: [] }

function report (
  logger: FastifyBaseLogger,
  {
    changed,
    restart,
    keys = NO_CHANGES,
    upstreams
  }: { changed: Name[], restart: Name[], keys: Changes | undefined, upstreams: Changes }
): void {
  const parts = [
    ...(changed.length === 0 ? [] : [`changed ${changed.join(', ')}`]),
    ...describe('keys', keys),
    ...describe('upstreams', upstreams),
    ...(restart.length === 0 ? [] : [`a restart is needed for ${restart.join(', ')}`])
  ]
  const level = restart.length === 0 ? 'info' : 'warn'
  logger[level](
    { reload: { changed, restart, keys, upstreams } },
    `options reloaded: ${parts.length === 0 ? 'nothing changed' : parts.join('; ')}`
  )
}

const describe = (what: string, changes: Changes): string[] =>
  (['added', 'removed', 'changed'] as const)
    .filter(kind => changes[kind].length > 0)
    .map(kind => `${what} ${kind}: ${changes[kind].join(', ')}`)
