import type { Revision } from '../revisions/revision.js'
import { grants, type Identity } from '../wire/identity.js'

/** Undefined for revisions that do not know the capability. */
export type Describe = (revision: Revision) => object | undefined

interface Extension { readonly settings: object, readonly scopes: readonly string[] }

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

  /** Declares an extension of the protocol. Callers without the scopes are not told of it. */
  declareExtension (name: string, settings: object, scopes: readonly string[] = []): void {
    this.#extensions.set(name, { settings, scopes })
    this.#known.clear()
  }

  /** True when not every caller is told the same. */
  get differ (): boolean {
    return [...this.#extensions.values()].some(({ scopes }) => scopes.length > 0)
  }

  /** One and the same object for callers who are told the same, until something else is declared. */
  of (revision: Revision, identity: Identity): Record<string, object> {
    const extensions = [...this.#extensions].filter(([, { scopes }]) => grants(identity, scopes))
    const key = extensions.map(([name]) => name).join()
    const known = this.#known.get(revision) ?? new Map<string, Record<string, object>>()
    const told = known.get(key) ?? this.#describe(revision, extensions)
    this.#known.set(revision, known.set(key, told))
    return told
  }

  #describe (
    revision: Revision,
    extensions: ReadonlyArray<readonly [name: string, extension: Extension]>
  ): Record<string, object> {
    const described = [...this.#described].map(([name, describe]) => [name, describe(revision)] as const)
    const capabilities = Object.fromEntries(
      described.filter((entry): entry is [string, object] => entry[1] !== undefined)
    )
    if (extensions.length === 0) return capabilities
    // Revisions with sessions do not know the member `extensions` yet.
    const member = revision.stateless ? 'extensions' : 'experimental'
    return {
      ...capabilities,
      [member]: {
        ...capabilities[member],
        ...Object.fromEntries(extensions.map(([name, { settings }]) => [name, settings]))
      }
    }
  }
}
