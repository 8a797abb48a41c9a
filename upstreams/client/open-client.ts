import { ReplyBudget } from '../../transports/client/reply-budget.js'
import { connect } from '../connection/connection.js'
import { EraMemory } from '../connection/era-memory.js'
import { dialerOf } from '../dial.js'
import type { ServerEntry } from '../server-entry.js'
import { openInTime } from '../supervision/open-in-time.js'
import { Client, LINES, SERVER, type ClientOptions } from './client.js'

/** How long a server with a URL may take to answer the first request, in milliseconds. */
const OPEN_WITHIN = 30_000

/** A server that could not be reached, with what its program wrote last for people. */
export class NotReached extends Error {
  override readonly name = 'NotReached'

  constructor (cause: unknown, readonly lines: readonly string[]) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** Connects to one server, of any revision and over any transport. Rejects with a `NotReached`. */
export async function openClient (options: ClientOptions, signal: AbortSignal): Promise<Client> {
  const { address, limits, clientInfo, events } = options
  const entry = entryOf(options)
  const replies = new ReplyBudget(limits.maxUpstreamBytes, limits.maxAllUpstreamBytes, () => 0)
  const stopTimeout = (): number => limits.upstreamQuickStopTimeout
  const { dial, lastLines } = dialerOf(entry, { ...limits, replies, stopTimeout })
  let client: Client | undefined
  const settings = {
    entry,
    dial,
    clientInfo,
    eras: new EraMemory(NO_VALUES, entry),
    probeWait: limits.upstreamProbeWait,
    maxQuestions: limits.maxUpstreamQuestions,
    log: { debug: () => {}, warn: (_context: object, text: string) => events.warn(text) },
    onReopen: () => client?.reopened()
  }
  const within = address.kind === 'stdio' ? limits.upstreamStartTimeout : OPEN_WITHIN
  try {
    const connection = await openInTime(async inner => await connect(settings, inner), within, signal)
    return (client = new Client(connection, options, lastLines))
  } catch (error) {
    if (signal.aborted) throw error
    throw new NotReached(error, lastLines(LINES))
  }
}

/** Nothing is remembered from one command to the next. */
const NO_VALUES = { get: async () => undefined, put: async () => {}, delete: async () => false }

const entryOf = ({ address, revision }: ClientOptions): ServerEntry => ({
  alias: SERVER,
  name: SERVER,
  source: 'the command line',
  address,
  disabled: false,
  timeout: undefined,
  includeTools: [],
  excludeTools: [],
  schemas: 'as-is',
  prefix: '',
  revision,
  start: 'lazy',
  idle: undefined,
  isolate: 'none',
  scopes: undefined,
  roots: [],
  elicitation: true,
  sampling: false
})
