import { revisionNamed } from '../../revisions/table.js'
import type { SessionRecord } from '../../store.js'
import { Session } from '../session.js'
import type { SessionOptions } from '../session-options.js'

/** Each request of a session brings the scopes of its own credential. */
const NO_SCOPES: ReadonlySet<string> = new Set()

/** A session as the store has it. */
export function sessionFrom (record: SessionRecord, options: Omit<SessionOptions, 'primed'>): Session {
  const revision = record.revision === undefined ? undefined : revisionNamed(record.revision)
  const session = new Session({
    ...options,
    wasConnected: true,
    primed: revision?.polling === true,
    peer: {
      ...options.peer,
      view: record.view,
      identity: { principal: record.principal, scopes: record.principal === undefined ? 'all' : NO_SCOPES },
      ...(revision === undefined ? {} : { revision })
    }
  })
  session.apply(record)
  return session
}
