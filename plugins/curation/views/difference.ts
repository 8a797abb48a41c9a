/** The items that go and those that come, or come in place of others of their key. */
export interface Difference<T> { readonly removed: T[], readonly put: T[] }

/** Finds what differs, and makes `shown` equal to `next`. */
export function replaceShown<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): Difference<T> {
  const removed = [...shown].filter(([key]) => !next.has(key)).map(([, item]) => item)
  const put = [...next].filter(([key, item]) => shown.get(key) !== item).map(([, item]) => item)
  replaceAll(shown, next)
  return { removed, put }
}

/** Finds what differs for some keys, of which those with `undefined` go, and changes `shown` likewise. */
export function changeShown<T> (shown: Map<string, T>, some: ReadonlyMap<string, T | undefined>): Difference<T> {
  const [removed, put]: [T[], T[]] = [[], []]
  for (const [key, item] of some) {
    const former = shown.get(key)
    if (former === item) continue
    if (item !== undefined) {
      shown.set(key, item)
      put.push(item)
    } else if (former !== undefined) {
      shown.delete(key)
      removed.push(former)
    }
  }
  return { removed, put }
}

/** The first template that matches a URI serves it: where one differs, all are put again, in the order of the whole. */
export function replaceInOrder<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): Difference<T> {
  const [before, after] = [[...shown.values()], [...next.values()]]
  replaceAll(shown, next)
  return before.length === after.length && before.every((item, index) => item === after[index])
    ? { removed: [], put: [] }
    : { removed: before, put: after }
}

function replaceAll<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): void {
  shown.clear()
  for (const [key, item] of next) shown.set(key, item)
}
