import { settleNames } from '../../../lib/settle-names.js'
import type { ToolOverrides } from '../../../protocol/definitions/overrides/override.js'
import { quote } from '../reading/warnings.js'
import { publicNames, type Prefixes, type PublicName } from './names.js'

/** The names of the tools of an upstream, and sentences about new ones that two tools would have. */
export interface Renamed { readonly names: ReadonlyMap<string, PublicName>, readonly clashes: readonly string[] }

/**
 * Gives tools the names of their overrides, behind the prefix. Operators know them by the names that they have without
 * it, by which they can still be called. Where two would have one name, both keep their own.
 */
export function renameTools (
  names: ReadonlyMap<string, PublicName>,
  prefixes: Prefixes,
  overrides: ToolOverrides = {}
): Renamed {
  const newNames = new Map(
    Object.entries(overrides).flatMap(([own, { name }]) =>
      name === undefined || name === own || !names.has(own) ? [] : [[own, name] as const]
    )
  )
  if (newNames.size === 0) return { names, clashes: [] }
  const listedAs = ([own, { name }]: [string, PublicName]): [string, string] => {
    const newName = newNames.get(own)
    return [own, newName === undefined ? name : publicNames(prefixes, [newName]).get(newName)?.name ?? name]
  }
  const settled = settleNames(new Map([...names].map(listedAs)), own => names.get(own)?.name ?? own)
  const renamed = [...names].map(([own, canonical]): [string, PublicName] => {
    const name = settled.names.get(own) ?? canonical.name
    if (name === canonical.name) return [own, canonical]
    const known = [canonical.name, ...canonical.spellings]
    const ownName = newNames.get(own) ?? own
    return [own, { name, spellings: known, accessName: canonical.name, scopeNames: known, ownName }]
  })
  return {
    names: new Map(renamed),
    clashes: settled.clashes.map(
      ({ name, items }) =>
        `tools ${items.map(quote).join(' and ')} would both be called ${quote(name)}, and keep their own names`
    )
  }
}
