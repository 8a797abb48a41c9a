import type { Revision } from '../revisions/revision.js'
import { grants, type Identity } from '../wire/identity.js'

/** Undefined for revisions that do not know the capability. */
export type Describe = (revision: Revision, identity: Identity) => object | undefined

interface Extension {
  readonly settings: object
  readonly scopes: readonly string[]
  /** True for one that callers without a name have no use for. */
  readonly isForNamed: boolean
  /** True for one that has the same place in all revisions. */
  readonly isOfficial: boolean
  /** True for one that revisions with sessions must not have. */
  readonly isModern: boolean
}

/** Capabilities of the server, in each revision. */
export class Capabilities {
  readonly #described = new Map<string, Describe>()
  readonly #extensions = new Map<string, Extension>()
  /** Capabilities as callers are told them, by revision and by the names of the extensions that they are told of. */
  readonly #known = new Map<Revision, Map<string, Record<string, object>>>()

  declare (name: string, describe: Describe): void {
    this.#described.set(name, describe)
    this.#known.clear()
  }

  /** Declares an extension of ours. Callers without the scopes, or without a name it needs, are not told of it. */
  declareExtension (name: string, settings: object, scopes: readonly string[] = [], isForNamed = false): void {
    this.#declare(name, { settings, scopes, isForNamed, isOfficial: false, isModern: false })
  }

  /** Declares an extension of the specification, which has the same place in all revisions, unless it `isModern`. */
  declareOfficial (name: string, settings: object, isModern = false): void {
    this.#declare(name, { settings, scopes: [], isForNamed: false, isOfficial: true, isModern })
  }

  #declare (name: string, extension: Extension): void {
    this.#extensions.set(name, extension)
    this.#known.clear()
  }

  /** True when not every caller is told the same. */
  get differ (): boolean {
    return [...this.#extensions.values()].some(({ scopes, isForNamed }) => scopes.length > 0 || isForNamed)
  }

  /** One and the same object for callers who are told the same, until something else is declared. */
  of (revision: Revision, identity: Identity): Record<string, object> {
    const isNamed = identity.principal !== undefined
    const extensions = [...this.#extensions].filter(([, { scopes, isForNamed, isModern }]) =>
      grants(identity, scopes) && (isNamed || !isForNamed) && (revision.stateless || !isModern)
    )
    const key = `${isNamed} ${extensions.map(([name]) => name).join()}`
    const known = this.#known.get(revision) ?? new Map<string, Record<string, object>>()
    const told = known.get(key) ?? this.#describe(revision, identity, extensions)
    this.#known.set(revision, known.set(key, told))
    return told
  }

  #describe (
    revision: Revision,
    identity: Identity,
    extensions: ReadonlyArray<readonly [name: string, extension: Extension]>
  ): Record<string, object> {
    const described = [...this.#described].map(([name, describe]) => [name, describe(revision, identity)] as const)
    const capabilities: Record<string, object> = Object.fromEntries(
      described.filter((entry): entry is [string, object] => entry[1] !== undefined)
    )
    for (const [name, { settings, isOfficial }] of extensions) {
      // The schemas of revisions with sessions do not name the member `extensions` yet.
      const member = revision.stateless || isOfficial ? 'extensions' : 'experimental'
      capabilities[member] = { ...capabilities[member], [name]: settings }
    }
    return capabilities
  }
}
