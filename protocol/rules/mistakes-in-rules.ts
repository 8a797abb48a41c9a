import { didYouMean } from '../../lib/nearest-name.js'
import { isObject } from '../wire/json.js'
import { MAX_DEPTH, MAX_RULES, type Rule } from './rule.js'
import { isUnder } from './under.js'

/** A mistake: where it is, and what was expected there. */
interface Mistake { readonly path: string, readonly text: string }

type Say = (path: string, text: string) => Mistake

const say: Say = (path, text) => ({ path, text: `option ${path} ${text}` })

const CONDITION = ['principal', 'scope', 'claim', 'view', 'not']
const MATCHER = ['is', 'in', 'not', 'min', 'max', 'under', 'each', 'has']

/** Finds the mistakes in rules that their schema does not find, with the place of each. */
export function mistakesInRules (rules: readonly Rule[], option = 'rules'): Mistake[] {
  const names = new Map<string, number>()
  return [
    ...(rules.length > MAX_RULES ? [say(option, `must have at most ${MAX_RULES} rules`)] : []),
    ...rules.flatMap((rule, index) => {
      const taken = rule.name === undefined ? undefined : names.get(rule.name)
      if (rule.name !== undefined) names.set(rule.name, index)
      const path = `${option}.${index}`
      return [
        ...(taken === undefined ? [] : [say(`${path}.name`, `is the name of ${option}.${taken}, too; give it another one`)]),
        ...inRule(rule, path)
      ]
    })
  ]
}

function inRule (rule: Rule, path: string): Mistake[] {
  const effects = (['allow', 'deny', 'ask'] as const).filter(effect => rule[effect] !== undefined)
  const { for: condition, where, hints, by, wait, questions } = rule
  return [
    ...(effects.length === 1 ? [] : [say(path, `must have exactly one of "allow", "deny" and "ask"${effects.length === 0 ? '' : `, not ${effects.join(' and ')}`}`)]),
    ...(rule.allow !== undefined && hints !== undefined
      ? [say(`${path}.hints`, 'cannot stand in a rule with "allow": hints come from the server, which could open itself')]
      : []),
    ...(rule.ask === undefined && by !== undefined ? [say(`${path}.by`, 'is for rules with "ask"')] : []),
    ...(rule.ask === undefined && wait !== undefined && questions === undefined ? [say(`${path}.wait`, 'is for rules with "ask" or "questions"')] : []),
    ...(rule.deny !== undefined && questions !== undefined ? [say(`${path}.questions`, 'is for rules with "allow" or "ask"')] : []),
    ...(condition === undefined ? [] : inCondition(condition, `${path}.for`, 1)),
    ...Object.entries(where ?? {}).flatMap(([name, matcher]) => inWhere(name, matcher, `${path}.where`))
  ]
}

function inCondition (condition: unknown, path: string, depth: number): Mistake[] {
  if (!isObject(condition) || Object.keys(condition).length === 0) return [say(path, 'must be an object with "principal", "scope", "claim", "view" or "not"')]
  if (depth > MAX_DEPTH) return [say(path, `is nested deeper than ${MAX_DEPTH} levels`)]
  return Object.entries(condition).flatMap(([member, value]) => {
    const place = `${path}.${member}`
    switch (member) {
      case 'not': return inCondition(value, place, depth + 1)
      case 'claim': return inClaims(value, place)
      case 'principal': case 'scope': case 'view':
        return isListOf(value, isText) ? [] : [say(place, 'must be a text, or a list of texts with at least one')]
      default: return [say(path, `has no "${member}"${didYouMean(member, CONDITION)}`)]
    }
  })
}

function inClaims (claims: unknown, path: string): Mistake[] {
  if (!isObject(claims) || Object.keys(claims).length === 0) return [say(path, 'must be an object with a value, or a list of values, for each claim')]
  return Object.entries(claims)
    .filter(([, value]) => !isListOf(value, isScalar))
    .map(([name]) => say(`${path}.${name}`, 'must be a text, a number, true or false, or a list of these with at least one'))
}

function inWhere (name: string, matcher: unknown, path: string): Mistake[] {
  const place = `${path}.${name}`
  if (name.split('.').some(part => part === '' || part === '__proto__')) return [say(place, 'must name an argument, or the path of one such as "a.b"')]
  return inMatcher(matcher, place, 1)
}

function inMatcher (matcher: unknown, path: string, depth: number): Mistake[] {
  if (matcher === null || isScalar(matcher)) return []
  if (!isObject(matcher) || Object.keys(matcher).length === 0) {
    return [say(path, `must be a value, or an object with ${MATCHER.map(name => `"${name}"`).join(', ')}`)]
  }
  if (depth > MAX_DEPTH) return [say(path, `is nested deeper than ${MAX_DEPTH} levels`)]
  return Object.entries(matcher).flatMap(([member, value]) => {
    const place = `${path}.${member}`
    switch (member) {
      case 'not': case 'each': case 'has': return inMatcher(value, place, depth + 1)
      case 'is': return value === null || isScalar(value) ? [] : [say(place, 'must be a text, a number, true, false or null')]
      case 'in': return Array.isArray(value) && isListOf(value, isScalar) ? [] : [say(place, 'must be a list of values or globs')]
      case 'min': case 'max': return typeof value === 'number' ? [] : [say(place, 'must be a number')]
      case 'under': return inUnder(value, place)
      default: return [say(path, `has no "${member}"${didYouMean(member, MATCHER)}`)]
    }
  })
}

function inUnder (value: unknown, path: string): Mistake[] {
  if (!isListOf(value, isText)) return [say(path, 'must be an absolute path or a URL, or a list of these')]
  return ([value].flat() as string[]).filter(base => !isBase(base))
    .map(base => say(path, `must be an absolute path or a URL without escapes and credentials, not "${base}"`))
}

function isBase (base: string): boolean {
  try {
    return isUnder(base)(base) === true
  } catch {
    return false
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 1_024

const isScalar = (value: unknown): boolean =>
  (typeof value === 'string' && value.length <= 1_024) || typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value))

/** True for one value, or a list of them that is not empty. */
function isListOf (value: unknown, test: (value: unknown) => boolean): boolean {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.length > 0 && list.length <= MAX_RULES && list.every(test)
}
