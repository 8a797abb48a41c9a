/** True, false, or undefined where a missing or odd value leaves it open. */
export type Truth = boolean | undefined

/** False if one is false, undefined if one is open, and true otherwise. */
export function all<T> (items: Iterable<T>, test: (item: T) => Truth): Truth {
  let truth: Truth = true
  for (const item of items) {
    const each = test(item)
    if (each === false) return false
    if (each === undefined) truth = undefined
  }
  return truth
}

/** True if one is true, undefined if one is open, and false otherwise. */
export function any<T> (items: Iterable<T>, test: (item: T) => Truth): Truth {
  let truth: Truth = false
  for (const item of items) {
    const each = test(item)
    if (each === true) return true
    if (each === undefined) truth = undefined
  }
  return truth
}

export const not = (truth: Truth): Truth => truth === undefined ? undefined : !truth
