import type { Revision } from '../revisions/revision.js'

/** Undefined for revisions that do not know the capability. */
export type Describe = (revision: Revision) => object | undefined

/** What the server says it can do, in each revision. */
export class Capabilities {
  readonly #described = new Map<string, Describe>()
  readonly #known = new Map<Revision, Record<string, object>>()

  declare (name: string, describe: Describe): void {
    this.#described.set(name, describe)
    this.#known.clear()
  }

  /** One and the same object until another capability is declared. */
  of (revision: Revision): Record<string, object> {
    const declared = this.#known.get(revision) ?? this.#describe(revision)
    this.#known.set(revision, declared)
    return declared
  }

  #describe (revision: Revision): Record<string, object> {
    const described = [...this.#described].map(([name, describe]) => [name, describe(revision)] as const)
    return Object.fromEntries(described.filter((entry): entry is [string, object] => entry[1] !== undefined))
  }
}
