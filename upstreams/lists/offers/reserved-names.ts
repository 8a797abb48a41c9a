import type { ServerEntry } from '../../server-entry.js'

/** The names and URIs that belong to one upstream alone, whatever others list: `alias__tool` and `alias+uri`. */
export class ReservedNames {
  #aliases: ReadonlySet<string> = new Set()
  #prefixes: ReadonlySet<string> = new Set()

  /** Takes the aliases of these servers in place of the former ones. */
  assign (entries: ReadonlyArray<Pick<ServerEntry, 'alias' | 'prefix'>>): void {
    this.#aliases = new Set(entries.map(({ alias }) => alias))
    this.#prefixes = new Set(entries.filter(({ prefix }) => prefix === undefined).map(({ alias }) => alias))
  }

  /** The alias of the upstream to which the name of a tool or prompt belongs; undefined when it may be that of any. */
  ownerOfName (name: string): string | undefined {
    return ownerIn(this.#prefixes, name, '__')
  }

  /** The same for the URI or template of a resource. */
  ownerOfUri (uri: string): string | undefined {
    return ownerIn(this.#aliases, uri, '+')
  }
}

function ownerIn (aliases: ReadonlySet<string>, text: string, separator: string): string | undefined {
  const end = text.indexOf(separator)
  const alias = end > 0 ? text.slice(0, end) : undefined
  return alias !== undefined && aliases.has(alias) ? alias : undefined
}
