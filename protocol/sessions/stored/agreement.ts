import type { Peer } from '../../peer/peer.js'
import type { Implementation } from '../../revisions/revision.js'
import { revisionNamed } from '../../revisions/table.js'
import type { Agreement, SessionRecord } from '../../store.js'

/** The agreement with a client, as it is stored; `named` if the client reads named events. */
export function agreementOf (
  { revision, initialized, client, capabilities, logLevel, principal, view }: Peer,
  named: boolean
): Agreement {
  return {
    revision: revision?.version,
    initialized,
    client,
    capabilities,
    logLevel,
    principal,
    ...(view === undefined ? {} : { view }),
    ...(named ? { named: true } : {})
  }
}

/** Makes a peer one with which this was negotiated. */
export function applyAgreement (peer: Peer, record: SessionRecord): void {
  if (record.revision !== undefined) peer.revision = revisionNamed(record.revision)
  peer.initialized = record.initialized
  peer.client = record.client as Implementation | undefined
  peer.capabilities = record.capabilities
  peer.logLevel = record.logLevel
}
