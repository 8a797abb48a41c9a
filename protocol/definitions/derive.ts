/** Copies an item with its getters, some of which are costly, and changes members of it. */
export function derive<T extends object> (item: T, changes: Partial<T>): T {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(item), ...Object.getOwnPropertyDescriptors(changes) }
  ) as T
}
