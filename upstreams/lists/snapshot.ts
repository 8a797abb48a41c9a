import { leastHints } from '../../protocol/revisions/cache-hints.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import type { Connection } from '../ports.js'
import { cutInstructions } from './instructions.js'
import type { Entry, Kind } from './reading/kinds.js'
import type { ReadList } from './reading/read-list.js'

/** An upstream's lists as far as they are known: read from it, or stored at an earlier start. Plain JSON. */
export interface Snapshot {
  readonly lists: Readonly<Record<Kind, readonly Entry[]>>
  readonly hints: Readonly<Partial<Record<Kind, CacheHints>>>
  readonly instructions?: string | undefined
  /** True where the upstream suggests values of arguments. */
  readonly completes: boolean
  /** True where it has resources. */
  readonly reads: boolean
  /** The hops that the entries may have come over, where the upstream is a gateway of ours. */
  readonly hops?: readonly string[] | undefined
}

export const EMPTY: Snapshot = {
  lists: { tools: [], prompts: [], resources: [], templates: [] },
  hints: {},
  completes: false,
  reads: false
}

/** Adds to what is known the lists that were read over a connection. */
export function withRead (
  former: Snapshot,
  { server: { instructions, capabilities }, revision: { features } }: Connection,
  read: ReadonlyArray<readonly [Kind, ReadList]>,
  maxInstructions: number,
  hops: readonly string[] | undefined
): Snapshot {
  return {
    lists: { ...former.lists, ...Object.fromEntries(read.map(([kind, { entries }]) => [kind, entries])) },
    hints: { ...former.hints, ...Object.fromEntries(read.map(([kind, { hints }]) => [kind, hints])) },
    instructions: cutInstructions(instructions, maxInstructions),
    // The first revision has the method, but no capability that says so.
    completes: capabilities['completions'] !== undefined || !features.completions,
    reads: capabilities['resources'] !== undefined,
    ...(hops === undefined ? {} : { hops })
  }
}

/** The caching hints of one kind of list that all of these allow; undefined where none has any. */
export function leastHintsOf (snapshots: readonly Snapshot[], kind: Kind): CacheHints | undefined {
  return snapshots
    .map(({ hints }) => hints[kind])
    .reduce(
      (least, hints) => (least === undefined || hints === undefined ? (least ?? hints) : leastHints(least, hints)),
      undefined
    )
}
