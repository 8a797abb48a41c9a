import { cut, isForReaders, setOf, without, type Schema, type SchemaChange } from './schema-change.js'

type Compare = (before: unknown, after: unknown, path: string) => SchemaChange[]

/**
 * The changes where what a schema allowed is one of several alternatives now, or one of several is what it allows now;
 * undefined where neither is so.
 */
export function compareAlternatives (
  before: Schema,
  after: Schema,
  path: string,
  compare: Compare
): SchemaChange[] | undefined {
  if (isChoice(after) && !Object.hasOwn(before, 'anyOf')) {
    return changesBetween(before, after, path, compare, 'added')
  }
  if (isChoice(before) && !Object.hasOwn(after, 'anyOf')) {
    return changesBetween(after, before, path, compare, 'gone')
  }
  return undefined
}

type Choice = Schema & { readonly anyOf: unknown[] }

/** How many alternatives are compared with what was one: of more, the work would grow with the square. */
const MOST = 64

/** A schema that is its alternatives, and says something to readers at most besides. */
const isChoice = (schema: Schema): schema is Choice =>
  Array.isArray(schema.anyOf) && schema.anyOf.length <= MOST &&
  Object.keys(schema).every(key => key === 'anyOf' || isForReaders(key))

function changesBetween (
  single: Schema,
  choice: Choice,
  path: string,
  compare: Compare,
  what: 'added' | 'gone'
): SchemaChange[] | undefined {
  const inOrder = (ofSingle: unknown, ofChoice: unknown, at: string): SchemaChange[] =>
    what === 'added' ? compare(ofSingle, ofChoice, at) : compare(ofChoice, ofSingle, at)
  // A text may stand beside the alternatives, or move into the one that it is about.
  const isOutside = (key: string): boolean => isForReaders(key) && Object.hasOwn(choice, key)
  const inside = pick(single, key => !isOutside(key))
  for (const [index, alternative] of choice.anyOf.entries()) {
    const changes = inOrder(inside, alternative, `${path}/anyOf/${index}`)
    if (changes.some(({ narrows, widens }) => what === 'added' ? narrows : widens)) continue
    const others = without(setOf(choice.anyOf), setOf([alternative])).join(', ')
    return [
      ...(others === '' ? [] : [differenceBy(others, `${path}/anyOf`, what)]),
      ...changes,
      ...inOrder(pick(single, isOutside), pick(choice, isForReaders), path)
    ]
  }
  return undefined
}

const pick = (schema: Schema, isPicked: (key: string) => boolean): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => isPicked(key)))

const differenceBy = (others: string, path: string, what: 'added' | 'gone'): SchemaChange => ({
  path,
  text: what === 'added' ? `allows ${cut(others)}, too` : `no longer allows ${cut(others)}`,
  narrows: what === 'gone',
  widens: what === 'added'
})
