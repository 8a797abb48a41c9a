import type { Activity } from './activities.js'

/** A row of a table as JSON text, and the client that it is of, which sees it marked as its own. */
export interface Row { readonly json: string, readonly owner: Activity | undefined }

/** The rows as that client sees them, as JSON text. */
export const rowsFor = (rows: readonly Row[], watcher: Activity): string =>
  `[${rows.map(({ json, owner }) => (owner === watcher ? `${json.slice(0, -1)},"own":true}` : json)).join(',')}]`
