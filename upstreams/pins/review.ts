import { isSameJson } from '../../lib/same-json.js'
import { Turns } from '../../lib/turns.js'
import { ALL_KINDS, KINDS, type Entry, type Kind } from '../lists/reading/kinds.js'
import type { HeldBack, Offerable, Snapshot } from '../lists/snapshot.js'
import { definitionsOf, type Section } from './definitions.js'
import { compareEntries, differencesBetween, type Difference } from './differences.js'

/** The accepted definitions of a server, and what keeps others from being accepted, if something does. */
export interface Accepted { readonly section: Section | undefined, readonly failure: string | undefined }

/**
 * Settles to what clients get where changes are held back: each definition as it was accepted, and none that was never
 * accepted or that a change breaks. Lists and maps that are as in `former` are the same objects.
 */
export async function hold (
  alias: string,
  read: Snapshot,
  { section, failure }: Accepted,
  former: Offerable | undefined
): Promise<Offerable> {
  const turns = new Turns()
  const lists: Partial<Record<Kind, readonly Entry[]>> = {}
  const heldBack: Partial<Record<Kind, ReadonlyMap<string, string>>> = {}
  for (const kind of ALL_KINDS) {
    const accepted = section?.lists[kind]
    const kept: Entry[] = []
    const held = new Map<string, string>()
    for (const entry of read.lists[kind]) {
      const name = entry[KINDS[kind].key] as string
      const known = accepted?.get(name)
      const why = failure ?? whyHeld(alias, kind, name, known, entry)
      // The entry itself, where it is the same: what is made of it is made once.
      if (why === undefined && known !== undefined) kept.push(isSameJson(known, entry) ? entry : known)
      else if (why !== undefined) held.set(name, why)
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    lists[kind] = sameOr(former?.snapshot.lists[kind], kept)
    heldBack[kind] = isSameMap(former?.heldBack[kind], held) ? former?.heldBack[kind] ?? held : held
  }
  const snapshot = { ...read, lists: lists as Snapshot['lists'], instructions: failure === undefined ? section?.instructions : undefined }
  return { snapshot, heldBack: heldBack as HeldBack }
}

/** The reason why clients do not get an entry. */
function whyHeld (alias: string, kind: Kind, name: string, known: Entry | undefined, entry: Entry): string | undefined {
  if (known === undefined) return `it was never accepted${adviceFor(alias)}`
  if (kind === 'skills' && !Array.isArray(known.resources)) {
    return 'its server has no digests of its files, so that they cannot be held to what was accepted'
  }
  const difference = compareEntries(kind, name, known, entry)
  if (difference?.isBreaking !== true) return undefined
  const [first] = difference.changes.filter(({ isBreaking }) => isBreaking)
  return `it is not as it was accepted: ${first?.place ?? ''} ${first?.text ?? ''}${adviceFor(alias)}`
}

const adviceFor = (alias: string): string =>
  `; an operator can look at it with patchbay pins diff ${alias}, and accept it with patchbay pins accept ${alias}`

function sameOr (former: readonly Entry[] | undefined, now: readonly Entry[]): readonly Entry[] {
  const isSame = former?.length === now.length && now.every((entry, index) => entry === former[index])
  return isSame ? former : now
}

const isSameMap = (one: ReadonlyMap<string, string> | undefined, other: ReadonlyMap<string, string>): boolean =>
  one?.size === other.size && [...other].every(([name, why]) => one.get(name) === why)

/** The differences of what a server offers from what was accepted; one alone, where nothing of it was. */
export async function review (read: Snapshot, { section }: Accepted): Promise<Difference[]> {
  if (section === undefined) return []
  const turns = new Turns()
  const offered = definitionsOf(read)
  await turns.pause()
  return await differencesBetween(section, offered)
}

/** The reason why a server is compared with nothing; undefined where something of it was accepted. */
export function whyNothing (alias: string, { section, failure }: Accepted): string | undefined {
  return failure ?? (section === undefined ? `nothing of it was accepted yet${adviceFor(alias)}` : undefined)
}
