import { mirrorsOf } from '../../../protocol/http/mirrored-headers.js'
import { inspect, isObject } from '../../../protocol/wire/json.js'
import { LIMITS } from '../../../protocol/wire/limits.js'
import { KINDS, type Entry, type Kind } from './kinds.js'

/** The deepest nesting of an entry: in a response it lies three levels deep. */
const MAX_DEPTH = LIMITS.maxDepth - 3
/** The most members and elements of an entry. */
const MAX_VALUES = 20_000

/** What is wrong with an entry of a list, in words; undefined when clients can get it. Schemas are not looked into. */
export function checkEntry (kind: Kind, entry: unknown, maxLength: number, mirrorsHeaders: boolean): string | undefined {
  if (!isObject(entry)) return 'it is not an object'
  const { key } = KINDS[kind]
  for (const member of new Set([key, 'name'])) if (!isText(entry[member])) return `it has no "${member}"`
  return mistakeOfSize(entry, maxLength) ?? (kind === 'tools' ? mistakeOfTool(entry, mirrorsHeaders) : kind === 'prompts' ? mistakeOfPrompt(entry) : undefined)
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

function mistakeOfSize (entry: Entry, maxLength: number): string | undefined {
  try {
    inspect(entry, { ...LIMITS, maxDepth: MAX_DEPTH, maxKeys: MAX_VALUES, maxValues: MAX_VALUES })
  } catch {
    return `it is nested deeper than ${MAX_DEPTH} levels, has more than ${MAX_VALUES} values or a key that is not allowed`
  }
  return JSON.stringify(entry).length > maxLength ? `it is longer than ${maxLength} characters (option maxUpstreamEntry)` : undefined
}

function mistakeOfTool ({ inputSchema }: Entry, mirrorsHeaders: boolean): string | undefined {
  if (!isObject(inputSchema)) return 'its inputSchema is not an object'
  try {
    if (mirrorsHeaders) mirrorsOf(inputSchema)
  } catch (error) {
    return (error as Error).message
  }
}

function mistakeOfPrompt ({ arguments: list }: Entry): string | undefined {
  return list === undefined || (Array.isArray(list) && list.every(isObject)) ? undefined : 'its arguments are not a list of objects'
}
