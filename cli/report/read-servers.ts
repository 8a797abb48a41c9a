import { pino } from 'pino'
import type { FastifyInstance } from 'fastify'
import { didYouMean } from '../../lib/nearest-name.js'
import { flatten, type Options } from '../../options.js'
import { OptionsError } from '../../options/mistakes.js'
import { describeStartError } from '../process/start-error.js'

/** One configured server after it was started and its lists were read, or after that failed. */
export interface ServerReading {
  readonly alias: string
  readonly state: 'read' | 'failed' | 'disabled' | 'left out'
  readonly transport: string
  /** The version of the protocol; undefined where it is not known. */
  readonly revision: string | undefined
  /** The URL without user, password and query; undefined for a program. */
  readonly url: string | undefined
  readonly tools: number
  readonly repairs: ReturnType<FastifyInstance['mcp']['upstreams']['repairs']>
  /** True where what clients would refuse is listed repaired. */
  readonly isRepaired: boolean
  /** Sentences about what is left out or hidden of its lists; the mistakes of one that is left out itself. */
  readonly warnings: readonly string[]
  /** Its entry, and its lists as they were read; undefined where it could not be read. */
  readonly entry?: ServerEntry | undefined
  readonly offered?: ReturnType<FastifyInstance['mcp']['upstreams']['listsOf']>
  /** Why it failed. */
  readonly error: string | undefined
  /** Lines that it wrote last to standard error, if it failed. */
  readonly lastLines: readonly string[]
  /** How long it took, in milliseconds. */
  readonly ms: number
  /** True where it has a credential in its configuration. */
  readonly hasCredential: boolean
  /** The sign-in to it, where it has a URL and sign-ins are stored. */
  readonly signIn: SignInState | undefined
}

type SignInState = Awaited<ReturnType<FastifyInstance['mcp']['upstreams']['signIns']['states']>>[number]

interface Wanted {
  /** The alias or the name of the only server that is wanted. */
  server: string | undefined
  /** Adds to an error where the options it is about were set. */
  locate: (error: Error) => Error
  /** Ends it early. */
  signal: AbortSignal
  /** How long each server may take, in milliseconds, where that is less than its own time to start. */
  limit?: number
}

type ServerEntry = Awaited<ReturnType<FastifyInstance['mcp']['upstreams']['read']>>['entries'][number]

/**
 * Starts the configured upstream servers side by side, reads their lists, and stops them. Nothing is listened on, and
 * the store is used only where it has sign-ins, which may have to be renewed. Throws a sentence if there is no such
 * server, and an OptionsError where a whole file cannot be used.
 */
export async function readServers (options: Options, wanted: Wanted): Promise<ServerReading[]> {
  const { build } = await import('../../app.js')
  const { redis, tls, ...local } = options
  const app = await build(
    { ...local, ephemeral: true, reload: false, roots: [], plugins: [], mcpServers: {}, mcpConfig: [] },
    { loggerInstance: pino({ level: 'silent' }) },
    undefined,
    options
  )
  // Timers of the gateway keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    await app.ready()
    const { entries, leftOut } = await app.mcp.upstreams.read(flatten(options))
    const [chosen, mistaken] = [choose(entries, wanted), choose(leftOut, wanted)]
    if (wanted.server !== undefined && chosen.length + mistaken.length === 0) {
      const names = [...entries, ...leftOut].map(({ alias }) => alias)
      throw new Error(
        `there is no upstream server "${wanted.server}"${didYouMean(wanted.server, names) || '; see patchbay --check'}`
      )
    }
    // All are started, and what is listed as it was sent is looked into like the rest.
    await app.mcp.upstreams.configure(
      chosen.map(entry => ({ ...entry, start: 'eager', idle: undefined, schemas: 'safe', pins: undefined }))
    )
    const [signIns, readings] = await Promise.all([
      app.mcp.upstreams.signIns.whyNot() === undefined
        ? app.mcp.upstreams.signIns.states(chosen, limited(wanted))
        : [],
      Promise.all(chosen.map(async entry => await readServer(app, entry, wanted)))
    ])
    return [
      ...readings.map(reading => ({ ...reading, signIn: signIns.find(({ alias }) => alias === reading.alias) })),
      ...mistaken.map(({ alias, mistakes }): ServerReading => ({
        ...UNKNOWN,
        alias,
        state: 'left out',
        warnings: describeStartError(wanted.locate(new OptionsError(mistakes)), false)
      }))
    ]
  } finally {
    await app.close()
    clearInterval(alive)
  }
}

const limited = ({ signal, limit }: Wanted): AbortSignal =>
  limit === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(limit)])

const choose = <E extends { alias: string, name: string }>(entries: readonly E[], { server }: Wanted): E[] =>
  entries.filter(({ alias, name }) => server === undefined || alias === server || name === server)

const UNKNOWN = {
  transport: '',
  revision: undefined,
  url: undefined,
  tools: 0,
  repairs: [],
  isRepaired: true,
  warnings: [],
  error: undefined,
  lastLines: [],
  ms: 0,
  hasCredential: false,
  signIn: undefined
}

async function readServer (
  { mcp: { upstreams } }: FastifyInstance,
  entry: ServerEntry,
  wanted: Wanted
): Promise<ServerReading> {
  const { alias, disabled, schemas, address } = entry
  const { signal, limit } = wanted
  const known = {
    ...UNKNOWN,
    alias,
    transport: address.kind,
    ...(address.kind !== 'stdio' && {
      url: urlOf(address),
      hasCredential: Object.keys(address.headers).some(name => name.toLowerCase() === 'authorization')
    })
  }
  if (disabled) return { ...known, state: 'disabled' }
  const startedAt = performance.now()
  const end = limited(wanted)
  const isRead = await upstreams.readLists(alias, end).then(() => true, () => false)
  signal.throwIfAborted()
  const { lastError, warnings = [], tools = 0, transport = address.kind, revision } =
    upstreams.status().find(status => status.alias === alias) ?? {}
  const error = lastError ?? (end.aborted ? `it was not ready within ${(limit ?? 0) / 1_000} s` : 'it did not start')
  return {
    ...known,
    state: isRead ? 'read' : 'failed',
    transport,
    revision,
    tools,
    repairs: upstreams.repairs(alias),
    isRepaired: schemas === 'safe',
    warnings: warnings.filter(sentence => isRead || sentence !== error),
    error: isRead ? undefined : error,
    lastLines: isRead ? [] : upstreams.get(alias)?.lastLines() ?? [],
    ms: Math.round(performance.now() - startedAt),
    entry,
    offered: isRead ? upstreams.listsOf(alias) : undefined
  }
}

/** Where a server is on the network, without what may be secret; undefined where only a document says it. */
function urlOf (address: Exclude<ServerEntry['address'], { kind: 'stdio' }>): string | undefined {
  const given = [address.url, ...address.kind === 'openapi' ? [address.document] : []].find(url => URL.canParse(url))
  if (given === undefined) return undefined
  const { origin, pathname } = new URL(given)
  return origin + pathname
}
