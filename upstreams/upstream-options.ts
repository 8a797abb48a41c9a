import type { Semaphore } from '../lib/semaphore.js'
import type { Credential } from '../transports/client/credential.js'
import type { DialOptions } from './dial.js'
import type { ListLimits } from './lists/limits.js'
import type { Connection, OpenConnection } from './ports.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import type { Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import type { SignInPages } from './sign-in/offer.js'
import type { BackOffOptions } from './supervision/back-off.js'
import type { SupervisorLog } from './supervision/supervisor.js'

/** The options about all upstreams. */
export interface UpstreamOptions extends Omit<DialOptions, 'stopTimeout' | 'replies'>, ListLimits {
  readonly maxApiDocument: number
  readonly maxApiSchema: number
  readonly maxUpstreamBytes: number
  readonly maxAllUpstreamBytes: number
  readonly stdio: boolean
  readonly upstreamStopTimeout: number
  readonly upstreamQuickStopTimeout: number
  readonly upstreamProbeWait: number
  readonly upstreamStartTimeout: number
  readonly upstreamRestartDelay: number
  readonly upstreamRestartDelayMax: number
  readonly maxUpstreamFailures: number
  readonly upstreamIdle: number
  readonly maxUpstreamConnections: number
  readonly maxUpstreamStarts: number
  readonly maxUpstreamQuestions: number
  readonly maxUpstreamRounds: number
  readonly parkedCallLifetime: number
  readonly maxParkedCalls: number
  readonly maxParkedCallsPerUpstream: number
  readonly maxParkedCallsPerCaller: number
  readonly maxParkedBytes: number
  readonly grace: number
}

export interface UpstreamLimits {
  readonly startTimeout: number
  readonly backOff: BackOffOptions
  /**
   * The most connections besides the shared one, and after how many milliseconds without a call one of them is closed.
   */
  readonly maxConnections: number
  readonly isolatedIdle: number
  readonly maxRounds: number
  /** How long calls in flight may take to finish when the upstream is removed, in milliseconds. */
  readonly grace: number
}

export interface ConfiguredUpstreamOptions {
  readonly entry: ServerEntry
  /** Opens a connection; `onReopen` runs when it had to agree anew with the upstream. */
  readonly connect: (
    signal: AbortSignal,
    onReopen: (connection: Connection) => void,
    credential: Credential | undefined
  ) => Promise<OpenConnection>
  /** The token of requests for the owner of a sign-in, where that is not configured. */
  readonly credentialOf?: (owner: string) => Credential | undefined
  readonly signInPages?: (() => Promise<SignInPages | undefined>) | undefined
  readonly starts: Semaphore
  readonly limits: UpstreamLimits
  readonly parked: ParkedCalls
  /** Lines that its processes wrote last for people, without secrets. */
  readonly lastLines: (count: number) => readonly string[]
  /** Hides the secrets that the server knows. */
  readonly redact: Redact
  readonly log: SupervisorLog
}

/** Within how many milliseconds failures are counted, and after how many without one they are forgotten. */
const PERIOD = 60_000

/** The limits of one upstream. */
export function limitsOf (options: UpstreamOptions): UpstreamLimits {
  const {
    upstreamStartTimeout,
    upstreamRestartDelay,
    upstreamRestartDelayMax,
    maxUpstreamFailures,
    upstreamIdle,
    maxUpstreamConnections,
    maxUpstreamRounds: maxRounds,
    grace
  } = options
  const backOff = {
    first: upstreamRestartDelay,
    longest: upstreamRestartDelayMax,
    maxFailures: maxUpstreamFailures,
    period: PERIOD
  }
  return {
    startTimeout: upstreamStartTimeout,
    backOff,
    maxConnections: maxUpstreamConnections,
    isolatedIdle: upstreamIdle,
    maxRounds,
    grace
  }
}
