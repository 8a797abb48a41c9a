import { setImmediate } from 'node:timers/promises'
import { Turns } from '../../lib/turns.js'
import { ALL_KINDS, KINDS, type Entry } from '../lists/reading/kinds.js'
import type { Snapshot } from '../lists/snapshot.js'
import type { Difference } from './differences.js'
import { findHidden } from './hidden-characters.js'
import type { Lock } from './lock-text.js'
import { findOtherTools, ownersOf, type OwnersOfNames } from './other-tools.js'

/** A thing in one definition that a reader may miss, in a sentence. */
export interface Mark {
  /** The definition, such as `tool "a"`. */
  readonly thing: string
  readonly text: string
}

/** A definition of which nothing says that an operator has read it. */
export type Unread = Pick<Difference, 'kind' | 'name' | 'offered'>

/** All definitions in the lists of a server. */
export function everythingIn ({ instructions, lists }: Snapshot): Unread[] {
  const listed = ALL_KINDS.flatMap(kind =>
    lists[kind].map(offered => ({ kind, name: String(offered[KINDS[kind].key]), offered })))
  return [{ kind: 'instructions', name: '', offered: instructions }, ...listed]
}

/** Finds characters that people do not see, and names of tools of other servers, of which it knows the lists. */
export class Marks {
  readonly #tools = new Map<string, readonly Entry[]>()
  #lock: Lock = new Map()
  #owners: Promise<OwnersOfNames> | undefined
  readonly #onNames: () => void
  #isDue = false

  /** `onNames` runs when names of tools are others than before, once for several servers. */
  constructor (onNames: () => void) {
    this.#onNames = onNames
  }

  /** Takes over the tools of a server. */
  note (alias: string, tools: readonly Entry[]): void {
    const former = this.#tools.get(alias)
    if (former === tools) return
    this.#tools.set(alias, tools)
    const isSame = former?.length === tools.length && tools.every(({ name }, index) => name === former[index]?.name)
    if (!isSame) this.#change()
  }

  /** Takes over what was accepted: the names in it count for servers that were not read. */
  take (lock: Lock): void {
    this.#lock = lock
    this.#change()
  }

  forget (alias: string): void {
    if (this.#tools.delete(alias)) this.#change()
  }

  /** Settles to the marks of definitions of one server. */
  async find (alias: string, unread: readonly Unread[]): Promise<Mark[]> {
    if (unread.length === 0) return []
    const owners = await (this.#owners ??= this.#readOwners())
    const turns = new Turns()
    const found: Mark[] = []
    for (const { kind, name, offered } of unread) {
      if (offered === undefined) continue
      const thing = kind === 'instructions' ? kind : `${KINDS[kind].noun} ${JSON.stringify(name)}`
      const texts = [...findHidden(offered), ...findOtherTools(alias, offered, owners)]
      for (const text of texts) found.push({ thing, text })
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    return found
  }

  async #readOwners (): Promise<OwnersOfNames> {
    return await ownersOf([
      ...[...this.#tools].map(([alias, tools]) => [alias, tools.map(({ name }) => String(name))] as const),
      ...[...this.#lock].map(([alias, { lists }]) => [alias, lists.tools.keys()] as const)
    ])
  }

  #change (): void {
    this.#owners = undefined
    if (this.#isDue) return
    this.#isDue = true
    void setImmediate().then(() => {
      this.#isDue = false
      this.#onNames()
    })
  }
}
