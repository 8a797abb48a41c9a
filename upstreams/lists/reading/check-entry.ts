import { mistakeOfEntry } from '../../../protocol/definitions/skill.js'
import { mirrorsOf } from '../../../protocol/http/mirrored-headers.js'
import { examine, isObject } from '../../../protocol/wire/json.js'
import { LIMITS } from '../../../protocol/wire/limits.js'
import type { ListLimits } from '../limits.js'
import { KINDS, type Entry, type Kind } from './kinds.js'

/** The deepest nesting of an entry: in a response it lies three levels deep. */
const MAX_DEPTH = LIMITS.maxDepth - 3

/** How large an entry may be. */
export type EntryLimits = Pick<ListLimits, 'maxUpstreamEntry' | 'maxUpstreamEntryValues'>

/**
 * Says what is wrong with an entry of a list that has `length` characters of JSON; undefined when it can be kept.
 * Whether clients can read it is not looked into.
 */
export function checkEntry (
  kind: Kind,
  entry: unknown,
  length: number,
  limits: EntryLimits,
  mirrorsHeaders: boolean
): string | undefined {
  if (!isObject(entry)) return 'it is not an object'
  const { key } = KINDS[kind]
  const named = kind === 'skills' ? [key] : new Set([key, 'name'])
  for (const member of named) if (!isText(entry[member])) return `it has no "${member}"`
  if (length > limits.maxUpstreamEntry) {
    return `it is longer than ${limits.maxUpstreamEntry} characters (limit maxUpstreamEntry)`
  }
  return (
    mistakeOfSize(entry, limits.maxUpstreamEntryValues) ??
    (kind === 'skills' ? mistakeOfEntry(entry) : undefined) ??
    (kind === 'tools' && mirrorsHeaders ? mistakeOfMirrors(entry) : undefined)
  )
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

function mistakeOfSize (entry: Entry, max: number): string | undefined {
  try {
    const { values, forbidden } = examine(entry, {
      ...LIMITS,
      maxDepth: MAX_DEPTH,
      maxKeys: Infinity,
      allowsUnsafeKeys: true
    })
    if (forbidden !== undefined) return `in it ${forbidden}`
    if (values > max) return `it has more than ${max} values (limit maxUpstreamEntryValues)`
  } catch {
    return `it is nested deeper than ${MAX_DEPTH} levels`
  }
}

function mistakeOfMirrors ({ inputSchema }: Entry): string | undefined {
  try {
    if (isObject(inputSchema)) mirrorsOf(inputSchema)
  } catch (error) {
    return (error as Error).message
  }
}
