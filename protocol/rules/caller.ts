import { matcherOf } from '../../lib/glob.js'
import { grants, type Identity } from '../wire/identity.js'
import type { Condition, Scalar } from './rule.js'
import { all, any, not, type Truth } from './three-valued.js'

/** The facts about a caller that conditions look at. */
export interface CallerFacts { readonly identity: Identity, readonly view: string | undefined }

/** Compiles the condition of a rule. */
export function compileCondition (condition: Condition): (facts: CallerFacts) => Truth {
  const { principal, scope, claim, view, not: other } = condition
  const tests: Array<(facts: CallerFacts) => Truth> = []
  if (principal !== undefined) {
    const globs = [principal].flat().map(matcherOf)
    tests.push(({ identity }) => namesOf(identity).some(name => globs.some(fits => fits(name))))
  }
  if (scope !== undefined) {
    const scopes = [scope].flat()
    tests.push(({ identity }) => scopes.some(each => grants(identity, [each])))
  }
  if (view !== undefined) {
    const globs = [view].flat().map(matcherOf)
    tests.push(({ view }) => view !== undefined && globs.some(fits => fits(view)))
  }
  for (const [name, wanted] of Object.entries(claim ?? {})) {
    const fits = claimTest([wanted].flat() as Scalar[])
    tests.push(({ identity: { claims } }) =>
      claims === undefined ? false : Object.hasOwn(claims, name) ? fits(claims[name]) : undefined)
  }
  if (other !== undefined) {
    const inner = compileCondition(other)
    tests.push(facts => not(inner(facts)))
  }
  return facts => all(tests, test => test(facts))
}

/** The names by which rules know a caller: its principal, and the name of its key or the subject of its token. */
export function namesOf ({ principal }: Identity): string[] {
  if (principal === undefined) return []
  if (principal.startsWith('key:')) return [principal, principal.slice(4)]
  const [, subject] = /^https?:\/\/[^#?]*#(.+)$/s.exec(principal) ?? []
  // A subject may look like the principal of a key.
  return subject === undefined || subject.startsWith('key:') ? [principal] : [principal, subject]
}

/** The names of all claims that a condition looks at. */
export const claimsIn = ({ claim = {}, not: other }: Condition): string[] =>
  [...Object.keys(claim), ...(other === undefined ? [] : claimsIn(other))]

/** A claim may be one value or a list of values; one that a token lacks is null. */
function claimTest (wanted: readonly Scalar[]): (value: unknown) => Truth {
  const globs = wanted.filter(value => typeof value === 'string').map(matcherOf)
  const others = new Set<unknown>(wanted.filter(value => typeof value !== 'string'))
  const one = (value: unknown): Truth => {
    if (typeof value === 'string') return globs.some(fits => fits(value))
    return typeof value === 'number' || typeof value === 'boolean' ? others.has(value) : undefined
  }
  return value => value === null ? false : Array.isArray(value) ? any(value, one) : one(value)
}
