import { EntryLookups } from '../lib/address-check.js'
import type { Implementation } from '../protocol/revisions/revision.js'
import type { Values } from '../protocol/store.js'
import type { Credential } from '../transports/client/credential.js'
import { connect } from './connection/connection.js'
import { EraMemory } from './connection/era-memory.js'
import type { RequestObserver } from './connection/observed-request.js'
import type { Dialer } from './dial.js'
import type { ApiParts } from './openapi/connection.js'
import type { ConnectionLog, OpenConnection } from './ports.js'
import type { Redact } from './secrets.js'
import { isApi, type ApiEntry, type ServerEntry } from './server-entry.js'
import { ClientCredential } from './sign-in/client-credential.js'
import type { ConfiguredUpstreamOptions, UpstreamOptions } from './upstream-options.js'

/** The part of the gateway that connections to upstreams use. */
export interface ConnectorHost {
  readonly clientInfo: Implementation
  readonly values: Values
  /** Is told of each request to an upstream when it is answered or has failed. */
  readonly observer?: RequestObserver | undefined
  readonly options: UpstreamOptions
  /** Opens the connection of an API. */
  readonly connectToApi: (entry: ApiEntry, own: ApiParts, signal: AbortSignal) => Promise<OpenConnection>
  readonly dialerOf: (entry: ServerEntry, redact: Redact, credential: Credential | undefined) => Dialer
}

/** The parts of one upstream that its connections use. */
interface Own {
  readonly hop: string
  /** The credential that its callers share. */
  readonly shared: Credential | undefined
  readonly redact: Redact
  readonly log: ConnectionLog
}

/** How connections to an upstream are opened, and what its processes wrote. */
export function connectorOf (
  entry: ServerEntry,
  { clientInfo, values, options, dialerOf, observer, connectToApi }: ConnectorHost,
  { hop, shared, redact, log }: Own
): Pick<ConfiguredUpstreamOptions, 'connect' | 'lastLines'> {
  if (isApi(entry)) {
    const credential = shared instanceof ClientCredential ? shared : undefined
    const lookups = new EntryLookups()
    return {
      connect: async signal => await connectToApi(entry, { credential, lookups, redact, log }, signal),
      lastLines: () => []
    }
  }
  const { dial, lastLines } = dialerOf(entry, redact, shared)
  const settings = {
    entry,
    hop,
    clientInfo,
    eras: new EraMemory(values, entry),
    probeWait: options.upstreamProbeWait,
    maxQuestions: options.maxUpstreamQuestions,
    log,
    observer
  }
  return {
    connect: async (signal, onReopen, credential) => {
      const own = credential === shared ? dial : dialerOf(entry, redact, credential).dial
      return await connect({ ...settings, dial: own, credential, onReopen }, signal)
    },
    lastLines
  }
}
