import type { Json } from '../client/contract.js'
import type { FieldError } from './check.js'
import { initialValue } from './model/initial.js'
import { parseJson, type JsonProblem } from './model/json-text.js'
import { maskSecrets, unmaskSecrets, type Masks } from './model/mask.js'
import { brokenIn, fromJson, print, toJson, type Value } from './model/value.js'

/** A value before it is sent: as the form shows it, and as text. Never changed: each edit makes another. */
export interface Draft {
  /** `true` where there is none. */
  readonly schema: Json
  /** Undefined: nothing is sent. While `problem` is there, the last value that could be read, which is only shown. */
  readonly value: Value | undefined
  /** Shown to people: with masks in place of secrets that were not typed into it. */
  readonly text: string
  /** The masks in the text; they are never sent. */
  readonly masks: Masks
  /** The mistake in the text, if there is one. */
  readonly problem?: JsonProblem
}

/** The value that a draft sends, or why it cannot be sent. */
interface Read { value?: Json, errors: FieldError[] }

/** A draft with the defaults of its schema, or with a value from before. */
export function newDraft (schema: Json | undefined, value?: Json): Draft {
  const root = schema ?? true
  return withValue({ schema: root }, value === undefined ? initialValue(root, root, true) : fromJson(value))
}

/** The draft after an edit in the form. Masks that stand where they may not stay masks. */
export function withValue (
  { schema, masks: earlier = new Map() }: Pick<Draft, 'schema'> & Partial<Draft>,
  value: Value | undefined
): Draft {
  const shown = maskSecrets(value, schema)
  const text = print(shown.value)
  const kept = [...earlier].filter(([mask]) => text.includes(mask))
  return { schema, value, text, masks: new Map([...kept, ...shown.masks]) }
}

/** The draft after an edit of its text, which stays as it was typed. */
export function withText ({ schema, value, masks }: Draft, text: string): Draft {
  const read = parseJson(text)
  if ('problem' in read) return { schema, value, text, masks, problem: read.problem }
  return { schema, value: read.value === undefined ? undefined : unmaskSecrets(read.value, schema, masks), text, masks }
}

/** The draft for a schema that has changed; the text stays. */
export function withSchema ({ text, masks }: Draft, schema: Json | undefined): Draft {
  return withText({ ...newDraft(schema), masks }, text)
}

/** The draft with its text in order; the same draft if the text cannot be read. */
export function formatDraft (draft: Draft): Draft {
  return draft.problem === undefined ? withValue(draft, draft.value) : draft
}

/** Finds the value that a draft sends, or why it sends none. Its schema is not asked: `checkInTime` does that. */
export function readDraft ({ value, problem }: Draft): Read {
  if (problem !== undefined) return { errors: [{ at: '', message: problemWords(problem) }] }
  const broken = brokenIn(value)
  if (broken.length > 0) return { errors: broken }
  const json = value === undefined ? undefined : toJson(value)
  if (json === undefined) return { errors: [{ at: '', message: 'There is nothing to send yet.' }] }
  return { value: json, errors: [] }
}

export const problemWords = ({ line, column, message }: JsonProblem): string =>
  `Line ${line}, column ${column}: ${message}.`
