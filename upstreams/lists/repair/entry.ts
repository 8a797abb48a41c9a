import { isObject } from '../../../protocol/wire/json.js'
import type { Entry, Kind } from '../reading/kinds.js'
import { Budget, TooLarge } from './budget.js'
import { Changes } from './changes.js'
import type { Members } from './dialects.js'
import { repairMembers, RULES } from './members.js'
import { repairInput, repairOutput } from './schema.js'

/** The member of `_meta` that says what was changed. */
export const CHANGED = 'patchbay/changed'

/** How entries are listed: in a form that every client takes, or as their server sent them. */
export type SchemaForm = 'safe' | 'as-is'

/** An entry as it is listed, and what was changed in it; or why it cannot be listed. */
export type Repaired = { readonly entry: Entry, readonly changes: readonly string[] } | string

/** The entry in the given form. The same object when nothing was changed. Does not throw: one entry costs no other. */
export function repairEntry (kind: Kind, entry: Entry, form: SchemaForm): Repaired {
  const wrong = MISTAKES[kind]?.(entry, form)
  if (wrong !== undefined) return wrong
  if (form === 'as-is') return { entry, changes: [] }
  const changes = new Changes()
  let repaired: Members
  try {
    const members = repairMembers(entry, RULES[kind], '', changes)
    repaired = kind === 'tools' ? repairTool(members, changes) : members
  } catch {
    return 'it cannot be put into a form that clients take'
  }
  if (!changes.any) return { entry, changes: [] }
  const sentences = changes.list()
  const _meta = { ...repaired._meta as Members | undefined, [CHANGED]: sentences }
  return { entry: { ...repaired, _meta }, changes: sentences }
}

function repairTool (tool: Members, changes: Changes): Members {
  const { inputSchema, outputSchema, ...rest } = tool
  const budget = new Budget()
  const input = repairBy(repairInput, inputSchema, '/inputSchema', changes, budget)
  const repaired: Members = { ...rest, inputSchema: input ?? anyObject(changes, inputSchema) }
  if (!('outputSchema' in tool)) return repaired
  const output = repairBy(repairOutput, outputSchema, '/outputSchema', changes, budget)
  if (output !== undefined) return { ...repaired, outputSchema: output }
  changes.note('/outputSchema', outputSchema === null ? 'null dropped' : 'dropped, because clients cannot read it')
  return repaired
}

/** Undefined where there is no schema, or one that is too large to look into. */
function repairBy (
  repair: typeof repairInput, schema: unknown, at: string, changes: Changes, budget: Budget
): Members | undefined {
  if (!isObject(schema)) return undefined
  const own = new Changes()
  try {
    const repaired = repair(schema, at, own, budget)
    if (!own.any) return schema
    changes.take(own)
    return repaired
  } catch (error) {
    if (error instanceof TooLarge) return undefined
    throw error
  }
}

/** Allows everything that the server may take, and leaves it to the server to check. */
function anyObject (changes: Changes, schema: unknown): Members {
  const why = isObject(schema) ? 'too large to look into' : 'there is none'
  changes.note('/inputSchema', `${why}: any arguments are listed`)
  return { type: 'object', properties: {} }
}

function mistakeOfTool ({ inputSchema }: Entry, form: SchemaForm): string | undefined {
  const isAbsent = inputSchema === undefined || inputSchema === null || inputSchema === true
  return isObject(inputSchema) || (form === 'safe' && isAbsent) ? undefined : 'its inputSchema is not an object'
}

function mistakeOfPrompt ({ arguments: list }: Entry, form: SchemaForm): string | undefined {
  if (list === undefined || (form === 'safe' && (list === null || Array.isArray(list)))) return undefined
  return Array.isArray(list) && list.every(isObject) ? undefined : 'its arguments are not a list of objects'
}

function mistakeOfResource ({ uri }: Entry, form: SchemaForm): string | undefined {
  return form === 'as-is' || URL.canParse(uri as string) ? undefined : 'its uri is not a URI'
}

const MISTAKES: Partial<Record<Kind, (entry: Entry, form: SchemaForm) => string | undefined>> =
  { tools: mistakeOfTool, prompts: mistakeOfPrompt, resources: mistakeOfResource }
