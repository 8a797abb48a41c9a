/** Whether `If-None-Match` names this entity tag. Tags that a proxy made weak count. */
export function matchesTag (condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').map(each => each.trim().replace(/^W\//, '')).some(each => each === tag || each === '*')
}
