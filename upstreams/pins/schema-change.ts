import { isObject } from '../../protocol/wire/json.js'

/** A change in a schema: where, in words what, and whether fewer or other values are valid than before. */
export interface SchemaChange {
  readonly path: string
  readonly text: string
  /** True where a value that was valid may not be any more. */
  readonly narrows: boolean
  /** True where a value that was not valid may be now. */
  readonly widens: boolean
  /** True where only the writing changed, or what is not used. */
  readonly isFormal?: true
  /** True where no value is valid or not for it. */
  readonly isForReaders?: true
  /** The texts before and after, where it is one for readers. */
  readonly texts?: readonly [before: string, after: string]
}

export type Schema = Record<string, unknown>

/** The schema as an object: `true` allows all, `false` nothing. Undefined for what is no schema. */
export const schemaIn = (value: unknown): Schema | undefined =>
  value === undefined || value === true ? {} : value === false ? { not: {} } : isObject(value) ? value : undefined

/** Writes a name as a part of a JSON pointer. */
export const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Shortens a text of a server for a sentence. */
export const cut = (text: string): string => text.length > 120 ? `${text.slice(0, 120)}…` : text

/** The members of a list as JSON. */
export const setOf = (value: unknown): Set<string> =>
  new Set((Array.isArray(value) ? value : [value]).map(item => JSON.stringify(item)))

/** The members of a set that another one lacks. */
export const without = (some: Set<string>, others: Set<string>): string[] => [...some].filter(item => !others.has(item))

const READ = new Set(['title', 'description', 'examples', 'default', '$comment', 'deprecated', 'readOnly', 'writeOnly'])

/** Counts a change of what is valid as narrower and wider: which of both it is depends on what surrounds it. */
export const inBothWays = (change: SchemaChange): SchemaChange =>
  change.isForReaders === true || change.isFormal === true ? change : { ...change, narrows: true, widens: true }

/** Counts a change as narrower and wider, whatever it is. */
export function asBreaking ({ isForReaders: _, isFormal: __, ...change }: SchemaChange): SchemaChange {
  return { ...change, narrows: true, widens: true }
}

/** Says whether a keyword is for readers: no value is valid or not for it. */
export const isForReaders = (key: string): boolean => READ.has(key) || key.startsWith('x-')
