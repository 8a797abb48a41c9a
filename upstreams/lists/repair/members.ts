import { isObject } from '../../../protocol/wire/json.js'
import { below, type Changes } from './changes.js'
import type { Members } from './dialects.js'

/** True for a value that clients take, or what they take in its place; false and undefined drop it. */
export type Rule = (value: unknown, at: string, changes: Changes) => unknown

export type Rules = Readonly<Record<string, Rule>>

const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isUri = (value: unknown): boolean => typeof value === 'string' && URL.canParse(value)
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/** A day that the calendar has. */
const DATE = [
  '(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29',
  '\\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])',
  '\\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)', '\\d{4}-02-(?:0[1-9]|1\\d|2[0-8])'
].join('|')
const HOUR = '(?:[01]\\d|2[0-3]):[0-5]\\d'
/** A date and time with its offset, as the strictest of the official clients checks it. */
const TIME = new RegExp(`^(?:${DATE})T${HOUR}:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-]${HOUR})$`)
const isTime = (value: unknown): boolean => typeof value === 'string' && TIME.test(value)

/** The members that clients take; the same object when nothing has to be changed. Members without a rule stay. */
export function repairMembers (given: Members, rules: Rules, at: string, changes: Changes): Members {
  let repaired = given
  for (const key in rules) {
    if (!Object.hasOwn(given, key)) continue
    const value = applyRule(rules[key] as Rule, given[key], below(at, key), changes)
    if (value === given[key]) continue
    if (repaired === given) repaired = { ...given }
    if (value === undefined) delete repaired[key]
    else repaired[key] = value
  }
  return repaired
}

function applyRule (rule: Rule, value: unknown, at: string, changes: Changes): unknown {
  const result = rule(value, at, changes)
  if (result === true) return value
  if (result !== false && result !== undefined) return result
  changes.note(at, value === null ? 'null dropped' : 'dropped, because clients cannot read it')
  return undefined
}

/** An object with its members repaired. */
const object = (rules: Rules): Rule => (value, at, changes) =>
  isObject(value) ? repairMembers(value, rules, at, changes) : undefined

/** A list of objects; those without what they need are dropped. */
const objects = (needed: (item: Members) => boolean, rules: Rules): Rule => (value, at, changes) => {
  if (!Array.isArray(value)) return undefined
  const items = value.flatMap((item: unknown, index): unknown[] => {
    const pointer = below(at, index)
    if (isObject(item) && needed(item)) return [repairMembers(item, rules, pointer, changes)]
    changes.note(pointer, 'dropped, because clients cannot read it')
    return []
  })
  return items.length === value.length && items.every((item, index) => item === value[index]) ? value : items
}

const isTheme = (value: unknown): boolean => value === 'light' || value === 'dark'
const ICONS = objects(({ src }) => isUri(src), { mimeType: isText, sizes: areTexts, theme: isTheme })

/** The rules of all kinds of entries. */
const COMMON: Rules = { title: isText, description: isText, icons: ICONS, _meta: isObject }

const ANNOTATIONS = object({
  audience: value => Array.isArray(value) && value.every(role => role === 'user' || role === 'assistant'),
  priority: value => typeof value === 'number' && value >= 0 && value <= 1,
  lastModified: isTime
})

const HINTS = object({
  title: isText, readOnlyHint: isFlag, destructiveHint: isFlag, idempotentHint: isFlag, openWorldHint: isFlag
})

const isNamed = ({ name }: Members): boolean => isText(name) && name !== ''
const ARGUMENTS = objects(isNamed, { title: isText, description: isText, required: isFlag })

const TASK_SUPPORT = new Set<unknown>([undefined, 'forbidden', 'optional', 'required'])
const isExecution = (value: unknown): boolean => isObject(value) && TASK_SUPPORT.has(value.taskSupport)

/** The rules of each kind of entry, schemas aside. */
export const RULES = {
  tools: { ...COMMON, execution: isExecution, annotations: HINTS },
  prompts: { ...COMMON, arguments: ARGUMENTS },
  resources: { ...COMMON, mimeType: isText, size: Number.isInteger, annotations: ANNOTATIONS },
  templates: { ...COMMON, mimeType: isText, annotations: ANNOTATIONS },
  // One that has a mistake is left out: what is repaired is not what its server digested.
  skills: {}
} as const satisfies Readonly<Record<string, Rules>>
