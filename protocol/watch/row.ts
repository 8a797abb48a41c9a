import type { Peer } from '../peer/peer.js'

/** A row of a table as JSON text, and the peer that it is of, which sees it marked as its own. */
export interface Row { readonly json: string, readonly peer: Peer | undefined }

/** The rows as that peer sees them, as JSON text. */
export const rowsFor = (rows: readonly Row[], watcher: Peer): string => `[${rows.map(({ json, peer }) => peer === watcher ? `${json.slice(0, -1)},"own":true}` : json).join(',')}]`
