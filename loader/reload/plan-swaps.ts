import { keyOf, titleOf, type Definition } from '../definitions.js'
import type { PluginUnit } from './plugin-unit.js'
import type { Registration } from './registration.js'

/** A file, and the version that is to be served. */
export interface Staged { unit: PluginUnit, next: Registration }

/** The versions that can be served together, the definitions that they may replace, and those whose names are taken. */
export interface Plan { accepted: Staged[], replaceable: Definition[], refused: Array<Staged & { error: unknown }> }

/**
 * Finds the versions whose names are free when all of them are served. A name may move from one file to another, unless
 * the file that has it keeps it. `check` throws when others than the given definitions have a name.
 */
export function planSwaps (
  staged: Staged[],
  check: (item: Definition, replaceable: readonly Definition[]) => void
): Plan {
  const refused: Plan['refused'] = []
  let accepted = staged
  for (let found = firstRefusal(accepted, check); found !== undefined; found = firstRefusal(accepted, check)) {
    const { unit } = found
    refused.push(found)
    // A name that it would have left is not free now, so that others are looked at again.
    accepted = accepted.filter(one => one.unit !== unit)
  }
  return { accepted, replaceable: accepted.flatMap(({ unit }) => unit.definitions), refused }
}

function firstRefusal (
  staged: Staged[],
  check: (item: Definition, replaceable: readonly Definition[]) => void
): (Staged & { error: unknown }) | undefined {
  const left = staged.flatMap(({ unit, next }) =>
    unit.definitions.filter(item => next.find(item.kind, keyOf(item)) === undefined)
  )
  const sources = new Map<string, string>()
  for (const one of staged) {
    try {
      for (const item of one.next.definitions) {
        check(item, [...left, ...one.unit.definitions])
        const other = sources.get(titleOf(item))
        if (other !== undefined) {
          throw new Error(
            `there is a ${titleOf(item)} in ${other} already; choose another ${item.kind === 'resource' ? 'uri' : 'name'}`
          )
        }
      }
    } catch (error) {
      return { ...one, error }
    }
    for (const item of one.next.definitions) sources.set(titleOf(item), one.unit.file)
  }
  return undefined
}
