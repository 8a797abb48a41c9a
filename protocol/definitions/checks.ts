/**
 * Refuses members a definition does not have, before they are ignored: most are another library's name for one of ours.
 */
export function checkMembers (
  what: string,
  definition: object,
  known: readonly string[],
  alias: Record<string, string>
): void {
  for (const member of Object.keys(definition)) {
    if (known.includes(member)) continue
    const meant = alias[member]
    throw new Error(
      `${what}: there is no "${member}"${meant === undefined ? `; there are ${known.join(', ')}` : `; did you mean "${meant}"?`}`
    )
  }
}

/** A name of something that is registered, or a sentence about what is wrong with it. */
export function checkName (kind: string, name: unknown, pattern: RegExp, expected: string): string {
  if (name === undefined) throw new Error(`a ${kind} needs a name`)
  if (typeof name !== 'string' || !pattern.test(name)) {
    throw new Error(`${kind} name ${JSON.stringify(name)}: use ${expected}`)
  }
  return `${kind} "${name}"`
}

/** Parts that may be left out, and are functions if not. */
export function checkFunctions (what: string, definition: object, parts: readonly string[]): void {
  for (const part of parts) {
    const value = (definition as Record<string, unknown>)[part]
    if (value !== undefined && typeof value !== 'function') throw new Error(`${what}: "${part}" must be a function`)
  }
}

/** Names of scopes, as tokens carry them. */
export function checkScopes (what: string, { scopes }: { scopes?: unknown }): void {
  const fits =
    scopes === undefined ||
    (Array.isArray(scopes) && scopes.every(scope => typeof scope === 'string' && /^[!#-[\]-~]+$/.test(scope)))
  if (!fits) throw new Error(`${what}: "scopes" must be a list of names without spaces, quotes and backslashes`)
}

/** A part without which a definition makes no sense. */
export function checkPart (what: string, definition: object, part: string, type: 'string' | 'function'): void {
  const value = (definition as Record<string, unknown>)[part]
  const fits = type === 'function' ? typeof value === 'function' : typeof value === 'string'
  if (!fits) throw new Error(`${what}: it needs ${type === 'function' ? 'a function' : 'a'} "${part}"`)
}
