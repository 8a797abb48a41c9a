import { leastHints } from '../../protocol/revisions/cache-hints.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import type { Connection } from '../ports.js'
import { hasTasks } from '../relay/tasks/upstream-task.js'
import { declares, type Entry, type Kind } from './reading/kinds.js'
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
  /** True where it may answer a call with a task. */
  readonly tasks?: boolean
  /** True where it has skills, which it need not list. */
  readonly skills?: boolean
  /** The hops that the entries may have come over, where the upstream is a gateway of ours. */
  readonly hops?: readonly string[] | undefined
}

export const EMPTY: Snapshot = {
  lists: { tools: [], prompts: [], resources: [], templates: [], skills: [] },
  hints: {},
  completes: false,
  reads: false
}

/** The entries of lists that clients do not get, by the names that their server gave, and why. */
export type HeldBack = Readonly<Record<Kind, ReadonlyMap<string, string>>>

/** The lists of a server as clients get them. */
export interface Offerable { readonly snapshot: Snapshot, readonly heldBack: HeldBack }

const NONE: ReadonlyMap<string, string> = new Map()

/** Nothing is held back. */
export const NOTHING_HELD: HeldBack = { tools: NONE, prompts: NONE, resources: NONE, templates: NONE, skills: NONE }

/** Adds to what is known the lists that were read over a connection. */
export function withRead (
  former: Snapshot,
  connection: Connection,
  read: ReadonlyArray<readonly [Kind, ReadList]>,
  instructions: string | undefined,
  hops: readonly string[] | undefined
): Snapshot {
  const { server: { capabilities }, revision } = connection
  return {
    lists: { ...former.lists, ...Object.fromEntries(read.map(([kind, { entries }]) => [kind, entries])) },
    hints: { ...former.hints, ...Object.fromEntries(read.map(([kind, { hints }]) => [kind, hints])) },
    instructions,
    // The first revision has the method, but no capability that says so.
    completes: capabilities['completions'] !== undefined || revision?.features.completions === false,
    reads: capabilities['resources'] !== undefined,
    ...(hasTasks(connection) && { tasks: true }),
    ...(declares(capabilities, 'skills') && { skills: true }),
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
