import { isSameJson } from '../../lib/same-json.js'
import { isObject } from '../../protocol/wire/json.js'
import { compareAlternatives } from './alternatives.js'
import {
  alternatives, assertion, bound, defaultValue, dialect, dividing, eitherWay, flag, forReaders, identity, required,
  types, wasAndIs, type Comparison, type Found, type Rule
} from './keyword-rules.js'
import { isList, readReferences, type References } from './references.js'
import {
  asBreaking, escape, inBothWays, isForReaders, schemaIn, setOf, without, type Schema, type SchemaChange
} from './schema-change.js'

/** How many parts of two schemas are compared: many more than schemas of real servers have. */
const MOST = 20_000

/** The changes from one schema to another. What no rule knows counts as narrower and wider. */
export function compareSchemas (before: unknown, after: unknown, path: string): SchemaChange[] {
  if (isSameJson(before, after)) return []
  const references = readReferences(before, after)
  const comparison: Comparison = { root: path, references, budget: { left: MOST }, found: [] }
  compare(before, after, path, comparison)
  if (comparison.budget.left < 0) return [{ path, text: 'is too large to be compared', narrows: true, widens: true }]
  return comparison.found.map(change => weigh(change, sharedNameIn(change.path, path), references))
}

/** Judges a change by the references that lead to its place. */
function weigh (change: SchemaChange, shared: string | undefined, references: References): SchemaChange {
  if (shared === undefined) return references.turned === 'all' ? inBothWays(change) : change
  if (!references.leadTo(shared)) {
    if (!change.narrows && !change.widens) return change
    return { ...change, text: `${change.text}, where no reference leads`, narrows: false, widens: false, isFormal: true }
  }
  return references.turned === 'none' ? change : inBothWays(change)
}

/** The shared schema that a place is in, such as `$defs/x`. */
function sharedNameIn (place: string, root: string): string | undefined {
  const [keyword = '', name] = place.slice(root.length + 1).split('/')
  return name !== undefined && (keyword === '$defs' || keyword === 'definitions') ? `${keyword}/${name}` : undefined
}

function compare (before: unknown, after: unknown, path: string, comparison: Comparison): void {
  if (--comparison.budget.left < 0 || isSameJson(before, after)) return
  const { found } = comparison
  const [old, now] = [schemaIn(before), schemaIn(after)]
  if (old === undefined || now === undefined) {
    found.push({ path, text: 'is another schema', narrows: true, widens: true })
    return
  }
  const choice = compareAlternatives(old, now, path, (one, another, place) =>
    changesBetween(one, another, place, comparison))
  if (choice !== undefined) {
    found.push(...choice)
    return
  }
  const isCounting = [old, now].some(schema => COUNTING.some(key => Object.hasOwn(schema, key)))
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [was, is] = [memberOf(old, key), memberOf(now, key)]
    if (isSameJson(was, is)) continue
    const own: Found = []
    ruleOf(key)(was, is, `${path}/${escape(key)}`, { ...comparison, found: own }, [old, now])
    for (const change of own) {
      const isCounted = isCounting && change.isForReaders !== true && RULES[key] !== shared
      const isUnsure = isCounted || isMoved(key, was, is, comparison.references)
      found.push(isUnsure ? asBreaking(change) : change)
    }
  }
}

/** Keywords that are about what no other one of a schema has allowed. */
const COUNTING = ['unevaluatedProperties', 'unevaluatedItems']

/** True where a reference leads into a keyword that has no schemas, or to a place in a list that may be another. */
const isMoved = (key: string, before: unknown, after: unknown, { through }: References): boolean =>
  through.has(key) && !(isList(key) && areAsLong(before, after))

const areAsLong = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) && Array.isArray(after) && before.length === after.length

const memberOf = (object: Schema, key: string): unknown => Object.hasOwn(object, key) ? object[key] : undefined

function changesBetween (before: unknown, after: unknown, path: string, comparison: Comparison): Found {
  const found: Found = []
  compare(before, after, path, { ...comparison, found })
  return found
}

/** Compares each schema of a list with the one in its place. */
function compareInOrder (before: unknown[], after: unknown[], path: string, comparison: Comparison): void {
  for (const [index, was] of before.entries()) compare(was, after[index], `${path}/${index}`, comparison)
}

/** Alternatives that are schemas: of as many as before, each is compared with the one in its place. */
const choices: Rule = (before, after, path, comparison, schemas) => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    compareInOrder(before, after, path, comparison)
  } else alternatives(before, after, path, comparison, schemas)
}

/** Schemas inside of which more values may be fewer outside. */
const turning = (rule: Rule): Rule => (before, after, path, comparison, schemas) => {
  const found: Found = []
  rule(before, after, path, { ...comparison, found }, schemas)
  comparison.found.push(...found.map(inBothWays))
}

/** Alternatives of which a value fits one alone, so that one that is there twice makes a difference. */
const single: Rule = (before, after, path, comparison, schemas) => {
  const found: Found = []
  choices(before, after, path, { ...comparison, found }, schemas)
  comparison.found.push(...found.map(areAsLong(before, after) ? inBothWays : asBreaking))
}

const parts: Rule = (before, after, path, comparison) => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    compareInOrder(before, after, path, comparison)
  } else {
    const [was, is] = [setOf(before ?? []), setOf(after ?? [])]
    const [gone, added] = [without(was, is).length > 0, without(is, was).length > 0]
    comparison.found.push({ path, text: wasAndIs(before, after), narrows: added, widens: gone })
  }
}

/** Properties by name: a new one can be left out, and one that is gone has no meaning any more. */
const properties: Rule = (before, after, path, comparison, [old]) => {
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  const isFree = Object.keys(was).length === 0 && path !== `${comparison.root}/properties`
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const place = `${path}/${escape(name)}`
    if (!Object.hasOwn(is, name)) comparison.found.push({ path: place, text: 'is gone', narrows: true, widens: true })
    else if (Object.hasOwn(was, name)) compare(was[name], is[name], place, comparison)
    else comparison.found.push(changeOfNew(is[name], old, isFree, place, comparison))
  }
}

/** The change by a new property, whose name may have been one of those that were allowed without being listed. */
function changeOfNew (
  schema: unknown,
  old: Schema,
  isFree: boolean,
  path: string,
  comparison: Comparison
): SchemaChange {
  const others = memberOf(old, 'additionalProperties')
  const hasPatterns = Object.hasOwn(old, 'patternProperties')
  const isPromised = isFree || hasPatterns || (isObject(others) && !Object.keys(others).every(isForReaders))
  const changes = isPromised && (others !== false || hasPatterns)
    ? changesBetween(hasPatterns ? true : others, schema, path, comparison)
    : []
  const widens = others === false || changes.some(change => change.widens)
  return { path, text: 'is new', narrows: changes.some(change => change.narrows), widens }
}

/** Schemas that are used where references lead to them. */
const shared: Rule = (before, after, path, comparison) => {
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const place = `${path}/${escape(name)}`
    const hasBoth = Object.hasOwn(was, name) && Object.hasOwn(is, name)
    if (hasBoth) compare(was[name], is[name], place, comparison)
    else {
      const isNew = Object.hasOwn(is, name)
      const label = sharedNameIn(place, comparison.root)
      const isMissed = !isNew && (label === undefined || comparison.references.stillLeadTo(label))
      const text = isNew ? 'is new' : 'is gone'
      // A schema that refers to a new one is new itself.
      comparison.found.push({ path: place, text, narrows: isMissed, widens: isMissed, ...isNew && { isFormal: true } })
    }
  }
}

/** A schema inside: absent, it allows all. */
const inner: Rule = (before, after, path, comparison) => {
  const { found } = comparison
  if (after === false) found.push({ path, text: 'allows no others any more', narrows: true, widens: false })
  else if (before === false) found.push({ path, text: 'allows others, too', narrows: false, widens: true })
  else if (before === undefined || after === undefined) {
    const [old, now] = [schemaIn(before), schemaIn(after)]
    const isNoOp = old !== undefined && isSameJson(old, now) && !comparison.references.areCounted
    found.push({
      path,
      text: wasAndIs(before, after),
      narrows: !isNoOp && after !== undefined,
      widens: !isNoOp && before !== undefined,
      ...isNoOp && { isFormal: true }
    })
  } else compare(before, after, path, comparison)
}

/** A schema that one item has to fit: absent, none has to. */
const needed: Rule = (before, after, path, comparison, schemas) => {
  if (before === undefined || after === undefined) eitherWay(before, after, path, comparison, schemas)
  else turning(inner)(before, after, path, comparison, schemas)
}

const rulesFor = (keys: string[], rule: Rule): Record<string, Rule> => Object.fromEntries(keys.map(key => [key, rule]))

const RULES: Readonly<Record<string, Rule>> = {
  $schema: dialect,
  $id: identity,
  ...rulesFor(['$ref', '$dynamicRef', '$recursiveRef', 'id', '$anchor', '$dynamicAnchor'], eitherWay),
  ...rulesFor(['minContains', 'nullable'], eitherWay),
  ...rulesFor(['minimum', 'exclusiveMinimum'], bound(true)),
  ...rulesFor(['minLength', 'minItems', 'minProperties'], bound(true, 0)),
  ...rulesFor(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'], bound(false)),
  type: types,
  enum: alternatives,
  default: defaultValue,
  anyOf: choices,
  oneOf: single,
  allOf: parts,
  required,
  properties,
  patternProperties: dividing('additionalProperties'),
  prefixItems: dividing('items'),
  ...rulesFor(['$defs', 'definitions'], shared),
  ...rulesFor(['items', 'additionalProperties', 'additionalItems', 'propertyNames'], inner),
  contains: needed,
  uniqueItems: flag
}

/** Validators pass over keywords of extensions. */
const ruleOf = (key: string): Rule =>
  (Object.hasOwn(RULES, key) ? RULES[key] : undefined) ?? (isForReaders(key) ? forReaders : assertion)
