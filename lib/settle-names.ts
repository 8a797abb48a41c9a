/** A name that several items want. */
export interface NameClash<T> { readonly name: string, readonly items: readonly T[] }

/**
 * The names that items get: the wanted ones, unless two items want the same, or one wants a name of another, its own or
 * another spelling of it; these get their own, which are taken to be different. Says which names clashed.
 */
export function settleNames<T> (
  wanted: ReadonlyMap<T, string>,
  ownName: (item: T) => string,
  spellingsOf: (item: T) => readonly string[] = () => []
): { readonly names: Map<T, string>, readonly clashes: Array<NameClash<T>> } {
  const names = new Map(wanted)
  const clashes: Array<NameClash<T>> = []
  const find = (): Array<NameClash<T>> => findClashes(names, ownName, spellingsOf)
  for (let found = find(); found.length > 0; found = find()) {
    clashes.push(...found)
    for (const { items } of found) for (const item of items) names.set(item, ownName(item))
  }
  return { names, clashes }
}

/** The items of one name, which may also be the own name of one of them. Items do not clash by their own names. */
function findClashes<T> (
  names: ReadonlyMap<T, string>,
  ownName: (item: T) => string,
  spellingsOf: (item: T) => readonly string[]
): Array<NameClash<T>> {
  const groups = new Map<string, T[]>()
  const add = (name: string, item: T): unknown => groups.get(name)?.push(item) ?? groups.set(name, [item])
  for (const [item, name] of names) {
    for (const each of new Set([name, ownName(item), ...spellingsOf(item)])) add(each, item)
  }
  const isNew = (name: string) => (item: T): boolean => names.get(item) === name && ownName(item) !== name
  return [...groups].flatMap(([name, items]) =>
    items.length > 1 && items.some(isNew(name)) ? [{ name, items }] : []
  )
}
