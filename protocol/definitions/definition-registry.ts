import type { CacheHints } from '../revisions/revision.js'
import type { Collection, Source } from './collection.js'

/** Adds definitions of authors, and looks them up by name. */
export interface Registry<T> {
  add: (item: T) => void
  /** Puts the item in the place of the one of its name, if there is one. Calls in flight end with the former. */
  replace: (item: T) => void
  remove: (name: string) => boolean
  get: (name: string) => T | undefined
  names: () => string[]
  /** All definitions, and when they change. */
  readonly source: Source<T>
  /**
   * Removes and puts many definitions of an upstream; clients hear of it once. Local definitions of the same name win,
   * and their names are returned. Those that `isUnlisted` are called by their names, and are in no list.
   */
  relay: (removed: readonly T[], items: readonly T[], isUnlisted?: (item: T) => boolean) => string[]
  /** Sets how long clients may keep the list at most, as upstreams say; undefined when they do not. */
  limitCaching: (hints: CacheHints | undefined) => void
}

/** The registry of a collection whose keys are the names of its items. */
export function registryOf<
  T extends { readonly kind: string; readonly name: string; readonly spellings?: readonly string[] | undefined }
> (kind: T['kind'], collection: Collection<T>): Registry<T> {
  return {
    add: item => {
      checkKind(kind, item)
      collection.add(item.name, item)
    },
    replace: item => {
      checkKind(kind, item)
      collection.replace(item.name, item)
    },
    remove: name => collection.remove(name),
    get: name => collection.get(name),
    names: () => collection.keys(),
    source: collection,
    relay: (removed, items, isUnlisted = () => false) =>
      collection.relay(
        removed.map(({ name }) => name),
        items.map(item => ({ key: item.name, item, spellings: item.spellings, unlisted: isUnlisted(item) }))
      ),
    limitCaching: hints => {
      collection.mostHints = hints
    }
  }
}

/** Throws when the item was not made by the function of that name. */
export function checkKind (kind: string, item: { readonly kind: string } | undefined): void {
  if (item?.kind !== kind) throw new Error(`${kind}s.add takes what ${kind}({ ... }) returns`)
}
