import { matcherOf } from '../../lib/glob.js'
import { isObject } from '../wire/json.js'
import type { Params } from '../wire/jsonrpc.js'
import type { Matcher, Scalar } from './rule.js'
import { all, any, not, type Truth } from './three-valued.js'
import { isUnder } from './under.js'

/** Tests a value; open for one that is missing, or of another kind than the matcher is about. */
export type Test = (value: unknown) => Truth

/** Compiles the matchers of a rule, by the paths of their arguments. */
export function compileWhere (where: Readonly<Record<string, Matcher>>): (args: Params | undefined) => Truth {
  const tests = Object.entries(where).map(([path, matcher]) => ({ path: path.split('.'), test: compileMatcher(matcher) }))
  return args => all(tests, ({ path, test }) => test(valueAt(args, path)))
}

/** Own members only; undefined where there is no such argument. */
function valueAt (args: unknown, path: readonly string[]): unknown {
  let value = args
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Compiles a matcher that `mistakesInRules` found no mistake in. */
export function compileMatcher (matcher: Matcher): Test {
  if (!isObject(matcher)) return isValue(matcher)
  const { is, in: values, not: other, min, max, under, each, has } = matcher
  const tests: Test[] = []
  if (is !== undefined) tests.push(isValue(is))
  if (values !== undefined) tests.push(isIn(values))
  if (min !== undefined) tests.push(numeric(value => value >= min))
  if (max !== undefined) tests.push(numeric(value => value <= max))
  if (under !== undefined) {
    const places = [under].flat().map(isUnder)
    tests.push(value => any(places, isThere => isThere(value)))
  }
  if (other !== undefined) tests.push(negate(compileMatcher(other)))
  if (each !== undefined) tests.push(ofElements(all, compileMatcher(each)))
  if (has !== undefined) tests.push(ofElements(any, compileMatcher(has)))
  return value => value === undefined ? undefined : all(tests, test => test(value))
}

const isValue = (wanted: Scalar | null): Test => value => {
  if (value === undefined) return undefined
  if (wanted === null || value === null) return wanted === null ? value === null : undefined
  return typeof value === typeof wanted ? value === wanted : undefined
}

function isIn (values: readonly Scalar[]): Test {
  const kinds = new Set(values.map(value => typeof value))
  const known = new Set<unknown>(values.filter(value => typeof value !== 'string'))
  const globs = values.filter(value => typeof value === 'string').map(matcherOf)
  return value => {
    if (!kinds.has(typeof value as 'string')) return undefined
    return typeof value === 'string' ? globs.some(fits => fits(value)) : known.has(value)
  }
}

const numeric = (test: (value: number) => boolean): Test =>
  value => typeof value === 'number' && Number.isFinite(value) ? test(value) : undefined

const negate = (test: Test): Test => value => not(test(value))

const ofElements = (quantify: typeof all, test: Test): Test =>
  value => Array.isArray(value) ? quantify(value, test) : undefined
