import type { ServerEntry } from '../../server-entry.js'
import { shortAlias } from './names.js'

/**
 * The names and URIs that belong to one upstream alone, whatever others list: `alias__tool`, `alias+uri` and
 * `ui://alias+page`.
 */
export class ReservedNames {
  #aliases: ReadonlyMap<string, string> = new Map()
  #prefixes: ReadonlyMap<string, string> = new Map()

  /** Takes the aliases of these servers in place of the former ones. */
  assign (entries: ReadonlyArray<Pick<ServerEntry, 'alias' | 'prefix'>>): void {
    this.#aliases = new Map(entries.map(({ alias }) => [alias, alias]))
    const prefixed = entries.filter(({ prefix }) => prefix === undefined)
    // The last one has the word: an alias as it is written comes before a shortened one.
    this.#prefixes = new Map([
      ...prefixed.map(({ alias }) => [shortAlias(alias), alias] as const),
      ...prefixed.map(({ alias }) => [alias, alias] as const)
    ])
  }

  /** The alias of the upstream to which the name of a tool or prompt belongs; undefined when it may be that of any. */
  ownerOfName (name: string): string | undefined {
    return ownerIn(this.#prefixes, name, '__')
  }

  /**
   * The alias of the upstream to which the URI or template of a resource belongs; undefined when it may be that of any.
   */
  ownerOfUri (uri: string): string | undefined {
    return ownerIn(this.#aliases, uri.startsWith('ui://') ? uri.slice(5) : uri, '+')
  }
}

function ownerIn (owners: ReadonlyMap<string, string>, text: string, separator: string): string | undefined {
  const end = text.indexOf(separator)
  return end > 0 ? owners.get(text.slice(0, end)) : undefined
}
