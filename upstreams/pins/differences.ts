import { isSameJson } from '../../lib/same-json.js'
import { Turns } from '../../lib/turns.js'
import { isObject } from '../../protocol/wire/json.js'
import { ALL_KINDS, KINDS, type Entry, type Kind } from '../lists/reading/kinds.js'
import type { Definitions } from './definitions.js'
import { compareSchemas } from './schema-changes.js'

/** A change of one field since it was accepted. */
export interface Change {
  readonly place: string
  readonly text: string
  /** True where what clients did may fail now, or may do more than was accepted. */
  readonly isBreaking: boolean
  /** True where only the writing changed, or what is not used. */
  readonly isFormal?: true | undefined
  /** The texts before and after, where models read it. */
  readonly texts?: readonly [before: string, after: string] | undefined
}

/** A difference between what was accepted of a server and what it offers. */
export interface Difference {
  readonly kind: Kind | 'instructions'
  readonly name: string
  readonly what: 'new' | 'gone' | 'changed'
  readonly isBreaking: boolean
  /** Breaking ones first, and those that mean the same last. */
  readonly changes: readonly Change[]
  /** The definition or the instructions that are offered; undefined for what is gone. */
  readonly offered: Entry | string | undefined
}

/** The differences between what was accepted and what is offered, sorted by kind and name. */
export async function differencesBetween (accepted: Definitions, offered: Definitions): Promise<Difference[]> {
  const turns = new Turns()
  const found: Difference[] = instructionsOf(accepted.instructions, offered.instructions)
  for (const kind of ALL_KINDS) {
    const [before, after] = [accepted.lists[kind], offered.lists[kind]]
    const names = [...new Set([...before.keys(), ...after.keys()])].sort()
    await turns.pause()
    for (const name of names) {
      const difference = compareEntries(kind, name, before.get(name), after.get(name))
      if (difference !== undefined) found.push(difference)
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
  }
  return found
}

/** The difference between two definitions of one name; undefined where there is none. */
export function compareEntries (
  kind: Kind,
  name: string,
  before: Entry | undefined,
  after: Entry | undefined
): Difference | undefined {
  if (before === undefined) return { kind, name, what: 'new', isBreaking: false, changes: [], offered: after }
  // Resources come and go with what they are about.
  if (after === undefined) {
    return { kind, name, what: 'gone', isBreaking: kind !== 'resources', changes: [], offered: undefined }
  }
  if (isSameJson(before, after)) return undefined
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(member => !isSameJson(before[member], after[member]))
    .flatMap((member): Change[] => {
      const found = changesOf(kind, member, before[member], after[member])
      return found.length > 0 ? found : [{ place: member, text: 'means the same', isBreaking: false, isFormal: true }]
    })
    .sort((one, other) => rankOf(one) - rankOf(other))
  return { kind, name, what: 'changed', isBreaking: changes.some(({ isBreaking }) => isBreaking), changes, offered: after }
}

/** A difference in a sentence, with its first changes. */
export function describe ({ kind, name, what, isBreaking, changes }: Difference): string {
  const thing = kind === 'instructions' ? 'instructions' : `${KINDS[kind].noun} ${JSON.stringify(name)}`
  if (what === 'new') return `${thing} is new and was never accepted`
  if (what === 'gone') return `${thing} is gone (${isBreaking ? 'breaking' : 'harmless to calls'})`
  const more = changes.length > SHOWN ? `, and ${changes.length - SHOWN} more` : ''
  const list = changes.slice(0, SHOWN).map(({ place, text }) => `${place} ${text}`).join('; ')
  return `${thing} changed (${isBreaking ? 'breaking' : 'harmless to calls'}): ${list}${more}`
}

/** Puts first what is breaking, then what models read, and last what means the same. */
const rankOf = ({ isBreaking, isFormal, place }: Change): number =>
  isBreaking ? 0 : place === 'description' ? 1 : place === 'title' ? 2 : isFormal === true ? 4 : 3

/** How many changes of one definition a sentence names. */
const SHOWN = 3

function instructionsOf (before: string | undefined, after: string | undefined): Difference[] {
  if (before === after) return []
  const what = before === undefined ? 'new' : after === undefined ? 'gone' : 'changed'
  const changes = [changedText('instructions', before, after)]
  return [{ kind: 'instructions', name: '', what, isBreaking: false, changes, offered: after }]
}

const changedText = (place: string, before: unknown, after: unknown): Change => ({
  place,
  text: before === undefined ? 'is new' : after === undefined ? 'is gone' : 'has another text',
  isBreaking: false,
  texts: [textOf(before), textOf(after)]
})

const textOf = (value: unknown): string => typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

function changesOf (kind: Kind, member: string, before: unknown, after: unknown): Change[] {
  switch (member) {
    case 'inputSchema':
      return compareSchemas(asObject(before), asObject(after), member).map(({ path, text, narrows, isFormal, texts }) =>
        ({ place: path, text, isBreaking: narrows, isFormal, texts }))
    case 'outputSchema':
      return outputChanges(before, after)
    case 'annotations':
      return kind === 'tools' ? hintChanges(before, after) : [harmless(member, before, after)]
    case 'arguments':
      return argumentChanges(before, after)
    case 'execution':
      return executionChanges(before, after)
    case 'resources':
      return fileChanges(before, after)
    case 'title':
    case 'description':
      return [changedText(member, before, after)]
    default:
      return [harmless(member, before, after)]
  }
}

const harmless = (place: string, before: unknown, after: unknown): Change => ({
  place,
  text: before === undefined ? 'is new' : after === undefined ? 'is gone' : 'is another',
  isBreaking: false,
  texts: [textOf(before), textOf(after)]
})

/** Arguments and structured results are objects, whether their schema says so or not. */
const asObject = (schema: unknown): unknown => isObject(schema) ? { type: 'object', ...schema } : schema

/** Readers of results rely on what was promised: a value that was not possible is what breaks them. */
function outputChanges (before: unknown, after: unknown): Change[] {
  if (before === undefined) return [{ place: 'outputSchema', text: 'is new', isBreaking: false }]
  if (after === undefined) return [{ place: 'outputSchema', text: 'is gone', isBreaking: true }]
  return compareSchemas(asObject(before), asObject(after), 'outputSchema').map(({ path, text, widens, isFormal, texts }) =>
    ({ place: path, text, isBreaking: widens, isFormal, texts }))
}

/** The values of hints that are absent, and the value that promises less harm. */
const HINTS: Readonly<Record<string, { readonly absent: boolean, readonly safer: boolean }>> = {
  readOnlyHint: { absent: false, safer: true },
  destructiveHint: { absent: true, safer: false },
  idempotentHint: { absent: false, safer: true },
  openWorldHint: { absent: true, safer: false }
}

function hintChanges (before: unknown, after: unknown): Change[] {
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter(name => !isSameJson(was[name], is[name]))
    .map(name => {
      const place = `annotations/${name}`
      const hint = Object.hasOwn(HINTS, name) ? HINTS[name] : undefined
      if (hint === undefined) return changedText(place, was[name], is[name])
      const [old, now] = [was[name] ?? hint.absent, is[name] ?? hint.absent]
      const isBreaking = old === hint.safer && now !== hint.safer
      if (old === now) return meansAsBefore(place, now)
      const text = `was ${textOf(old)} and is ${textOf(now)}${isBreaking ? ', so that it may do more harm' : ''}`
      return { place, text, isBreaking }
    })
}

const meansAsBefore = (place: string, value: unknown): Change =>
  ({ place, text: `means ${textOf(value)}, as before`, isBreaking: false, isFormal: true })

/** A tool that does not say so is no task. */
function executionChanges (before: unknown, after: unknown): Change[] {
  const place = 'execution/taskSupport'
  const supportIn = (value: unknown): unknown => isObject(value) ? value.taskSupport ?? 'forbidden' : 'forbidden'
  const [was, is] = [supportIn(before), supportIn(after)]
  if (was === is) return [meansAsBefore(place, is)]
  return [{ place, text: `was ${textOf(was)} and is ${textOf(is)}`, isBreaking: is === 'required' }]
}

/** The changes of the arguments of a prompt. */
function argumentChanges (before: unknown, after: unknown): Change[] {
  const [was, is] = [argumentsIn(before), argumentsIn(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name): Change[] => {
    const [old, now] = [was.get(name), is.get(name)]
    const place = `arguments/${name}`
    if (now === undefined) return [{ place, text: 'is gone', isBreaking: true }]
    if (old === undefined) {
      return [{ place, text: now.required === true ? 'is new, and required' : 'is new', isBreaking: now.required === true }]
    }
    if (isSameJson(old, now)) return []
    const isNarrower = now.required === true && old.required !== true
    return [
      ...(isNarrower ? [{ place, text: 'is required now', isBreaking: true }] : []),
      ...[...new Set([...Object.keys(old), ...Object.keys(now)])]
        .filter(member => !isSameJson(old[member], now[member]) && !(isNarrower && member === 'required'))
        .map(member => changedText(`${place}/${member}`, old[member], now[member]))
    ]
  })
}

const argumentsIn = (value: unknown): Map<string, Record<string, unknown>> =>
  new Map((Array.isArray(value) ? value : []).filter(isObject).map(argument => [String(argument.name), argument]))

/** The changes of the files of a skill: a digest that was accepted is what is read, or nothing is. */
function fileChanges (before: unknown, after: unknown): Change[] {
  const [was, is] = [filesIn(before), filesIn(after)]
  if (was === undefined || is === undefined) {
    const text = is === undefined ? 'may be any files now' : 'are these files now'
    return [{ ...harmless('resources', before, after), text, isBreaking: is === undefined }]
  }
  return [...new Set([...was.keys(), ...is.keys()])].filter(uri => was.get(uri) !== is.get(uri)).map(uri => {
    const text = !was.has(uri) ? 'is new' : is.has(uri) ? 'has other bytes' : 'is gone'
    return { place: `resources/${uri}`, text, isBreaking: was.has(uri) }
  })
}

/** The digests by URI; undefined where a server does not say which files there are. */
const filesIn = (value: unknown): Map<string, unknown> | undefined => Array.isArray(value)
  ? new Map(value.filter(isObject).map(file => [String(file.uri), file.digest]))
  : undefined
