import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { didYouMean } from '../../lib/nearest-name.js'
import { flatten, resolveOptions, type Options } from '../../options.js'
import type { Values } from '../../protocol/store.js'
import { LOCAL, ownerNamed } from '../../upstreams/sign-in/owner.js'
import { SHARED } from '../../upstreams/sign-in/sign-ins.js'
import { expectSignals } from '../process/signals.js'
import { readSettings, withData, withPlaces } from '../settings/read-settings.js'

type Upstreams = FastifyInstance['mcp']['upstreams']

export type ServerEntry = Awaited<ReturnType<Upstreams['read']>>['entries'][number]

/** The configured servers, and the store of the gateway. */
export interface Servers {
  readonly upstreams: Upstreams
  readonly entries: readonly ServerEntry[]
  /** Aborts when the user ends the command. */
  readonly signal: AbortSignal
}

/**
 * Runs work with the servers of the options and the store of the gateway, which may run at the same time; nothing is
 * started or listened on. Ends the process with the code that the work returns, or with 128 plus the number of a
 * signal.
 */
export async function withServers (argv: string[], work: (servers: Servers) => Promise<number>): Promise<void> {
  const settings = readSettings(argv, process.env, process.cwd())
  const options = withData(resolveOptions(settings.options))
  const ending = new AbortController()
  let signalCode: number | undefined
  expectSignals()
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.on(signal, () => {
      signalCode ??= code
      ending.abort(new Error(`ended by ${signal}`))
    })
  }
  // Timers of the gateway keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    const code = await inGateway(options, async ({ upstreams }) => {
      const { entries } = await upstreams.read(flatten(options))
      return await work({ upstreams, entries, signal: ending.signal })
    })
    process.exit(signalCode ?? code)
  } catch (error) {
    if (signalCode !== undefined) process.exit(signalCode)
    throw withPlaces(error as Error, settings)
  } finally {
    clearInterval(alive)
  }
}

/** Runs work with the values in the store of the gateway, which may run at the same time. */
export async function withStore<T> (options: Options, work: (values: Values) => Promise<T>): Promise<T> {
  return await inGateway(options, async ({ store }) => await work(store.values))
}

const NOTHING_SERVED = {
  http: false,
  tools: false,
  reload: false,
  roots: [],
  plugins: [],
  views: {},
  mcpServers: {},
  mcpConfig: []
}

/** Not made ready: nothing of it is served, and other nodes do not hear of its options. */
async function inGateway<T> (options: Options, work: (mcp: FastifyInstance['mcp']) => Promise<T>): Promise<T> {
  const { build } = await import('../../app.js')
  const { tls, ...rest } = options
  const app = await build(
    { ...rest, ...NOTHING_SERVED },
    { loggerInstance: pino({ level: 'silent' }) }
  )
  try {
    return await work(app.mcp)
  } finally {
    await app.close()
  }
}

/** Whose sign-in it is. Throws a sentence where a caller is named for a server that all share. */
export function ownerFor ({ alias, auth }: ServerEntry, caller: string | undefined): string {
  if (auth === 'caller') return caller === undefined ? LOCAL : ownerNamed(caller)
  if (caller === undefined) return SHARED
  throw new Error(`all callers share the sign-in to ${alias}: leave out --as, or set "auth": "caller" of this server`)
}

/** The server of that name or alias. Throws a sentence if there is none. */
export function findServer (entries: readonly ServerEntry[], name: string): ServerEntry {
  const found = entries.find(({ alias, name: given }) => alias === name || given === name)
  if (found !== undefined) return found
  const hint = didYouMean(name, entries.map(({ alias }) => alias)) || '; see patchbay check'
  throw new Error(`there is no upstream server "${name}"${hint}`)
}
