import { signal, type Signal } from '@preact/signals'
import type { Json } from '../client/contract.js'
import { newDraft, withSchema, type Draft } from '../forms/draft.js'
import type { Kind } from './route.js'

/**
 * Drafts by kind and key of the thing they are for; they outlive connections and views, but neither the login nor the
 * tab.
 */
const drafts = new Map<string, Signal<Draft>>()
const fields = new Map<string, Signal<ReadonlyMap<string, string>>>()

/** Forgets everything that was typed, for another caller. */
export function forgetDrafts (): void {
  drafts.clear()
  fields.clear()
}

/** The arguments of a tool. When its schema has changed, the text stays. */
export function draftOf (kind: Kind, key: string, schema: Json | undefined): Signal<Draft> {
  const name = `${kind} ${key}`
  const known = drafts.get(name)
  if (known === undefined) {
    const made = signal(newDraft(schema))
    drafts.set(name, made)
    return made
  }
  if (JSON.stringify(known.peek().schema) !== JSON.stringify(schema ?? true)) {
    known.value = withSchema(known.peek(), schema)
  }
  return known
}

/** Puts the arguments of an earlier call into the draft. */
export function setDraft (kind: Kind, key: string, schema: Json | undefined, value: Json): void {
  draftOf(kind, key, schema).value = newDraft(schema, value)
}

/** The arguments of a prompt or template, all of them texts. */
export function fieldsOf (kind: Kind, key: string): Signal<ReadonlyMap<string, string>> {
  const name = `${kind} ${key}`
  const known = fields.get(name) ?? signal<ReadonlyMap<string, string>>(new Map())
  fields.set(name, known)
  return known
}
