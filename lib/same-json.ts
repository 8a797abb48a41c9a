/** True when two JSON values are equal, whatever the order of their members. */
export function isSameJson (one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSameJson(item, other[index]))
    )
  }
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  const [members, others] = [one as Record<string, unknown>, other as Record<string, unknown>]
  return names.every(name => Object.hasOwn(others, name) && isSameJson(members[name], others[name]))
}
