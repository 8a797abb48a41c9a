import { isSameJson } from '../../lib/same-json.js'
import type { References } from './references.js'
import { cut, setOf, without, type Schema, type SchemaChange } from './schema-change.js'

export type Found = SchemaChange[]

/** The comparison of two whole schemas that a rule is a part of. */
export interface Comparison {
  /** The place of the whole schemas. */
  readonly root: string
  readonly references: References
  /** How many more parts of the schemas are compared, in all their pairs. */
  readonly budget: { left: number }
  readonly found: Found
}

export type Rule = (
  before: unknown,
  after: unknown,
  path: string,
  comparison: Comparison,
  schemas: readonly [Schema, Schema]
) => void

const shown = (value: unknown): string => value === undefined ? 'absent' : cut(JSON.stringify(value))

/** Says in words what a value was and what it is. */
export const wasAndIs = (before: unknown, after: unknown): string => `was ${shown(before)} and is ${shown(after)}`

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** Readers see it, and no value is valid or not for it. */
export const forReaders: Rule = (before, after, path, { found, references }) => {
  const isText = typeof before === 'string' || typeof after === 'string'
  const told = before === undefined ? 'is new' : after === undefined ? 'is gone' : 'has another text'
  const change: SchemaChange = {
    path,
    text: isText ? told : wasAndIs(before, after),
    narrows: false,
    widens: false,
    isForReaders: true,
    ...isText && { texts: [textOf(before), textOf(after)] as const }
  }
  // A reference by name may lead to a schema in it.
  found.push(references.areUnsure && !isText ? { ...change, narrows: true, widens: true } : change)
}

/** A default that was there is what calls without a value meant: with another one, they do something else. */
export const defaultValue: Rule = (before, after, path, comparison, schemas) => {
  const own: Found = []
  forReaders(before, after, path, { ...comparison, found: own }, schemas)
  comparison.found.push(...own.map(change => ({ ...change, narrows: change.narrows || before !== undefined })))
}

/** Each value has to fulfil it, where it is there. */
export const assertion: Rule = (before, after, path, { found }) => {
  found.push({ path, text: wasAndIs(before, after), narrows: after !== undefined, widens: before !== undefined })
}

/** Any change of it may allow fewer values and others. */
export const eitherWay: Rule = (before, after, path, { found }) => {
  found.push({ path, text: wasAndIs(before, after), narrows: true, widens: true })
}

/** The name of the whole schema says nothing, where all references are to its own parts. */
export const identity: Rule = (before, after, path, comparison, schemas) => {
  const { found, references, root } = comparison
  if (references.areUnsure || path !== `${root}/$id`) eitherWay(before, after, path, comparison, schemas)
  else found.push({ path, text: wasAndIs(before, after), narrows: false, widens: false, isFormal: true })
}

/** The dialect says nothing, where no keyword means something else in another one. */
export const dialect: Rule = (before, after, path, comparison, schemas) => {
  const { found, references } = comparison
  if (references.haveSiblings) eitherWay(before, after, path, comparison, schemas)
  else found.push({ path, text: wasAndIs(before, after), narrows: false, widens: false, isFormal: true })
}

/**
 * A bound: of a greater number, fewer values are valid where `isLeast`, else more. Some libraries write the greatest
 * integers that JSON carries, which is no bound.
 */
export const bound = (isLeast: boolean, least = Number.MIN_SAFE_INTEGER): Rule => (before, after, path, ...rest) => {
  if ([before, after].some(value => value !== undefined && typeof value !== 'number')) {
    eitherWay(before, after, path, ...rest)
    return
  }
  const valueOf = (value: unknown): number => isLeast
    ? typeof value !== 'number' || value <= least ? -Infinity : value
    : typeof value !== 'number' || value >= Number.MAX_SAFE_INTEGER ? Infinity : value
  const [was, is] = [valueOf(before), valueOf(after)]
  const [lower, higher] = [is < was, is > was]
  const [narrows, widens] = isLeast ? [higher, lower] : [lower, higher]
  const [{ found }] = rest
  found.push({ path, text: wasAndIs(before, after), narrows, widens, ...was === is && { isFormal: true } })
}

/** A list of alternatives, of which absent means any. */
export const alternatives: Rule = (before, after, path, comparison, schemas) => {
  const { found } = comparison
  if (before === undefined || after === undefined) {
    assertion(before, after, path, comparison, schemas)
    return
  }
  const [was, is] = [setOf(before), setOf(after)]
  comparison.budget.left -= (was.size + is.size) / 16
  const [gone, added] = [without(was, is), without(is, was)]
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
export const types: Rule = (before, after, path, comparison, schemas) => {
  const widened = (value: unknown): unknown => {
    const list = [value].flat()
    return value !== undefined && list.includes('number') ? [...list, 'integer'] : value
  }
  alternatives(widened(before), widened(after), path, comparison, schemas)
}

export const required: Rule = (before, after, path, { found }) => {
  const [was, is] = [setOf(before ?? []), setOf(after ?? [])]
  const [gone, added] = [without(was, is), without(is, was)]
  for (const name of added) found.push({ path, text: `${name} is required now`, narrows: true, widens: false })
  for (const name of gone) {
    found.push({ path, text: `${name} is not required any more`, narrows: false, widens: true })
  }
  if (gone.length + added.length > 0) return
  const text = was.size > 0 ? 'has another order' : 'means the same'
  found.push({ path, text, narrows: false, widens: false, isFormal: true })
}

export const flag: Rule = (before, after, path, { found }) => {
  const text = wasAndIs(before, after)
  found.push({ path, text, narrows: after === true && before !== true, widens: before === true && after !== true })
}

/** Takes values away from another keyword: where that allows all, it is an assertion like any other. */
export const dividing = (rest: string): Rule => (before, after, path, comparison, schemas) => {
  const rests = schemas.map(schema => Object.hasOwn(schema, rest) ? schema[rest] : undefined)
  const isAlone = rests.every(value => value === undefined || value === true || isSameJson(value, {}))
  ;(isAlone ? assertion : eitherWay)(before, after, path, comparison, schemas)
}
