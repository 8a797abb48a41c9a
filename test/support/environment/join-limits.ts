/** Environments in one: of a variable the later value counts, of the limits all. */
export function joinLimits (
  ...environments: Array<Record<string, string | undefined>>
): Record<string, string | undefined> {
  const limits = environments.flatMap(({ PATCHBAY_LIMITS }) => PATCHBAY_LIMITS ?? [])
  return {
    ...(Object.assign({}, ...environments) as Record<string, string>),
    ...(limits.length === 0 ? {} : { PATCHBAY_LIMITS: limits.join(',') })
  }
}
