import { leastHints } from '../../protocol/revisions/cache-hints.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import type { Entry, Kind } from './reading/kinds.js'

/** What is known of an upstream's lists: read from it, or stored at an earlier start. Plain JSON. */
export interface Snapshot {
  readonly lists: Readonly<Record<Kind, readonly Entry[]>>
  readonly hints: Readonly<Partial<Record<Kind, CacheHints>>>
  readonly instructions?: string | undefined
  /** Whether the upstream suggests values of arguments. */
  readonly completes: boolean
  /** Whether it has resources. */
  readonly reads: boolean
}

export const EMPTY: Snapshot = { lists: { tools: [], prompts: [], resources: [], templates: [] }, hints: {}, completes: false, reads: false }

/** The caching hints of one kind of list that all of these allow; undefined where none has any. */
export function leastHintsOf (snapshots: readonly Snapshot[], kind: Kind): CacheHints | undefined {
  return snapshots.map(({ hints }) => hints[kind]).reduce((least, hints) => least === undefined || hints === undefined ? least ?? hints : leastHints(least, hints), undefined)
}
