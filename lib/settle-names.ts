/** A name that several items want. */
export interface NameClash<T> { readonly name: string, readonly items: readonly T[] }

/**
 * The names that items get: the wanted ones, unless two items want the same, or one wants the own name of another;
 * these get their own, which are taken to be different. Says which names clashed.
 */
export function settleNames<T> (
  wanted: ReadonlyMap<T, string>,
  ownName: (item: T) => string
): { readonly names: Map<T, string>, readonly clashes: Array<NameClash<T>> } {
  const names = new Map(wanted)
  const clashes: Array<NameClash<T>> = []
  for (let found = findClashes(names, ownName); found.length > 0; found = findClashes(names, ownName)) {
    clashes.push(...found)
    for (const { items } of found) for (const item of items) names.set(item, ownName(item))
  }
  return { names, clashes }
}

/** The items of one name, which may also be the own name of one of them. Items do not clash by their own names. */
function findClashes<T> (
  names: ReadonlyMap<T, string>,
  ownName: (item: T) => string
): Array<NameClash<T>> {
  const groups = new Map<string, T[]>()
  const add = (name: string, item: T): unknown => groups.get(name)?.push(item) ?? groups.set(name, [item])
  for (const [item, name] of names) {
    add(name, item)
    if (name !== ownName(item)) add(ownName(item), item)
  }
  const isNew = (name: string) => (item: T): boolean => names.get(item) === name && ownName(item) !== name
  return [...groups].flatMap(([name, items]) =>
    items.length > 1 && items.some(isNew(name)) ? [{ name, items }] : []
  )
}
