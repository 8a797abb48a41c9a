import { isSameJson } from '../../lib/same-json.js'
import { isObject } from '../../protocol/wire/json.js'
import { compareAlternatives } from './alternatives.js'
import { referencedIn } from './references.js'
import { cut, escape, isForReaders, schemaIn, setOf, without, type Schema, type SchemaChange } from './schema-change.js'

type Found = SchemaChange[]
type Rule = (before: unknown, after: unknown, path: string, found: Found, schemas: readonly [Schema, Schema]) => void

/** The changes from one schema to another. What no rule knows counts as narrower and wider. */
export function compareSchemas (before: unknown, after: unknown, path: string): SchemaChange[] {
  const found: Found = []
  compare(before, after, path, found)
  const isShared = ({ path: place }: SchemaChange): boolean => sharedNameIn(place, path) !== undefined
  if (!found.some(change => isShared(change) && (change.narrows || change.widens))) return found
  const referenced = [referencedIn(before), referencedIn(after)]
  return found.map(change => {
    const name = sharedNameIn(change.path, path)
    const isReached = name === undefined || referenced.some(names => names === undefined || names.has(name))
    if (isReached) return change
    return { ...change, text: `${change.text}, where no reference leads`, narrows: false, widens: false, isFormal: true }
  })
}

/** The shared schema that a place is in, such as `$defs/x`. */
function sharedNameIn (place: string, root: string): string | undefined {
  const [keyword = '', name] = place.slice(root.length + 1).split('/')
  return name !== undefined && (keyword === '$defs' || keyword === 'definitions') ? `${keyword}/${name}` : undefined
}

function compare (before: unknown, after: unknown, path: string, found: Found): void {
  if (isSameJson(before, after)) return
  const [old, now] = [schemaIn(before), schemaIn(after)]
  if (old === undefined || now === undefined) {
    found.push({ path, text: 'is another schema', narrows: true, widens: true })
    return
  }
  const alternatives = compareAlternatives(old, now, path, (one, other, place) => {
    const changes: Found = []
    compare(one, other, place, changes)
    return changes
  })
  if (alternatives !== undefined) {
    found.push(...alternatives)
    return
  }
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [was, is] = [memberOf(old, key), memberOf(now, key)]
    if (!isSameJson(was, is)) ruleOf(key)(was, is, `${path}/${escape(key)}`, found, [old, now])
  }
}

const memberOf = (object: Schema, key: string): unknown => Object.hasOwn(object, key) ? object[key] : undefined
const shown = (value: unknown): string => value === undefined ? 'absent' : cut(JSON.stringify(value))
const wasAndIs = (before: unknown, after: unknown): string => `was ${shown(before)} and is ${shown(after)}`

/** Readers see it, and no value is valid or not for it. */
const forReaders: Rule = (before, after, path, found) => {
  const isText = typeof before === 'string' || typeof after === 'string'
  found.push({
    path,
    text: isText ? before === undefined ? 'is new' : after === undefined ? 'is gone' : 'has another text' : wasAndIs(before, after),
    narrows: false,
    widens: false,
    ...isText && { texts: [textOf(before), textOf(after)] }
  })
}

/** The dialect or the name of a schema says nothing to readers. */
const formal: Rule = (before, after, path, found) => {
  found.push({ path, text: wasAndIs(before, after), narrows: false, widens: false, isFormal: true })
}

const textOf = (value: unknown): string => typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** Each value has to fulfil it, where it is there. */
const assertion: Rule = (before, after, path, found) => {
  found.push({
    path,
    text: wasAndIs(before, after),
    narrows: after !== undefined,
    widens: before !== undefined
  })
}

/** A bound: of a greater number, fewer values are valid where `isLeast`, else more. */
const bound = (isLeast: boolean): Rule => (before, after, path, found) => {
  const none = isLeast ? -Infinity : Infinity
  // Some libraries write the greatest integers that JSON carries, which is no bound.
  const isBound = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  const [was, is] = [isBound(before) ? before : none, isBound(after) ? after : none]
  const [lower, higher] = [is < was, is > was]
  const [narrows, widens] = isLeast ? [higher, lower] : [lower, higher]
  found.push({ path, text: wasAndIs(before, after), narrows, widens, ...was === is && { isFormal: true } })
}

/** A list of alternatives, of which absent means any. */
const alternatives: Rule = (before, after, path, found) => {
  const [was, is] = [setOf(before), setOf(after)]
  const [gone, added] = [without(was, is), without(is, was)]
  if (before === undefined || after === undefined) return assertion(before, after, path, found, [{}, {}])
  if (gone.length + added.length === 0) {
    found.push({ path, text: 'has another order', narrows: false, widens: false, isFormal: true })
    return
  }
  const text = [
    ...(gone.length > 0 ? [`no longer allows ${cut(gone.join(', '))}`] : []),
    ...(added.length > 0 ? [`allows ${cut(added.join(', '))}, too`] : [])
  ].join(', and ')
  found.push({ path, text, narrows: gone.length > 0, widens: added.length > 0 })
}

/** `number` allows integers, too. */
const types: Rule = (before, after, path, found, schemas) => {
  const widened = (value: unknown): unknown => {
    const list = [value].flat()
    return value !== undefined && list.includes('number') ? [...list, 'integer'] : value
  }
  alternatives(widened(before), widened(after), path, found, schemas)
}

/** Alternatives that are schemas: of as many as before, each is compared with the one in its place. */
const choices: Rule = (before, after, path, found, schemas) => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, was] of before.entries()) compare(was, after[index], `${path}/${index}`, found)
  } else alternatives(before, after, path, found, schemas)
}

const parts: Rule = (before, after, path, found, schemas) => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    choices(before, after, path, found, schemas)
  } else {
    const [was, is] = [setOf(before ?? []), setOf(after ?? [])]
    const [gone, added] = [without(was, is).length > 0, without(is, was).length > 0]
    found.push({ path, text: wasAndIs(before, after), narrows: added, widens: gone })
  }
}

const required: Rule = (before, after, path, found) => {
  const [was, is] = [setOf(before ?? []), setOf(after ?? [])]
  for (const name of without(is, was)) found.push({ path, text: `${name} is required now`, narrows: true, widens: false })
  for (const name of without(was, is)) {
    found.push({ path, text: `${name} is not required any more`, narrows: false, widens: true })
  }
  if (!isSameSet(was, is)) return
  const text = was.size > 0 ? 'has another order' : 'means the same'
  found.push({ path, text, narrows: false, widens: false, isFormal: true })
}

const isSameSet = (one: Set<string>, other: Set<string>): boolean =>
  without(one, other).length + without(other, one).length === 0

/** Properties by name: a new one can be left out, and one that is gone has no meaning any more. */
const properties: Rule = (before, after, path, found) => {
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const place = `${path}/${escape(name)}`
    if (!Object.hasOwn(is, name)) found.push({ path: place, text: 'is gone', narrows: true, widens: true })
    else if (!Object.hasOwn(was, name)) found.push({ path: place, text: 'is new', narrows: false, widens: false })
    else compare(was[name], is[name], place, found)
  }
}

/** Schemas that are used where references lead to them. */
const shared: Rule = (before, after, path, found) => {
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const place = `${path}/${escape(name)}`
    if (!Object.hasOwn(was, name) || !Object.hasOwn(is, name)) {
      found.push({ path: place, text: Object.hasOwn(is, name) ? 'is new' : 'is gone', narrows: false, widens: false })
    } else compare(was[name], is[name], place, found)
  }
}

/** A schema inside: absent, it allows all. */
const inner: Rule = (before, after, path, found) => {
  if (after === false) found.push({ path, text: 'allows no others any more', narrows: true, widens: false })
  else if (before === false) found.push({ path, text: 'allows others, too', narrows: false, widens: true })
  else if (before === undefined || after === undefined) {
    const isNoOp = schemaIn(before) !== undefined && isSameJson(schemaIn(before), schemaIn(after))
    found.push({
      path,
      text: wasAndIs(before, after),
      narrows: !isNoOp && after !== undefined,
      widens: !isNoOp && before !== undefined,
      ...isNoOp && { isFormal: true }
    })
  } else compare(before, after, path, found)
}

const flag: Rule = (before, after, path, found) => {
  const text = wasAndIs(before, after)
  found.push({ path, text, narrows: after === true && before !== true, widens: before === true && after !== true })
}

const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(['$schema', '$id'].map(key => [key, formal])),
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map(key => [key, bound(true)])
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map(key => [key, bound(false)])
  ),
  type: types,
  enum: alternatives,
  anyOf: choices,
  oneOf: choices,
  allOf: parts,
  required,
  properties,
  $defs: shared,
  definitions: shared,
  items: inner,
  additionalProperties: inner,
  additionalItems: inner,
  propertyNames: inner,
  contains: inner,
  uniqueItems: flag
}

/** Validators pass over keywords of extensions. */
const ruleOf = (key: string): Rule =>
  (Object.hasOwn(RULES, key) ? RULES[key] : undefined) ?? (isForReaders(key) ? forReaders : assertion)
