import { randomUUID } from 'node:crypto'
import { isObject } from '../wire/json.js'
import type { ElicitAnswer } from '../wire/client-answers.js'
import type { Features } from './revision.js'

type Field = Record<string, unknown>

/** Forms and pages as each revision can ask for them, and answers back in the author's terms. */
export const elicitation = { isKnown, params, relay, answer }

function isKnown ({ url }: Field, features: Features): boolean {
  return url === undefined ? features.elicitation !== 'none' : features.elicitation === 'url'
}

function params ({ message, url, requestedSchema }: Field, features: Features): Field {
  if (url !== undefined) {
    return { mode: 'url', message, url, ...(features.elicitationIds ? { elicitationId: randomUUID() } : {}) }
  }
  if (features.elicitation === 'url') return { mode: 'form', message, requestedSchema: formSchema(requestedSchema) }
  return { message, requestedSchema: mapFields(requestedSchema, early) }
}

/** The params of a question that another server wrote: what this revision does not change stays as it is. */
function relay ({ elicitationId, mode, ...rest }: Field, features: Features): Field {
  if (rest.url !== undefined) {
    return {
      mode: 'url',
      ...rest,
      ...(features.elicitationIds ? { elicitationId: elicitationId ?? randomUUID() } : {})
    }
  }
  if (features.elicitation === 'url') return { mode: mode ?? 'form', ...rest }
  return { ...rest, requestedSchema: mapFields(rest.requestedSchema, early) }
}

/** Takes back what `early` did to several-choice fields: their text becomes a list again. */
function answer (given: ElicitAnswer, requestedSchema: object | undefined, features: Features): ElicitAnswer {
  if (features.elicitation !== 'form' || given.content === undefined) return given
  const content = { ...given.content }
  for (const [name, field] of Object.entries(fieldsOf(requestedSchema))) {
    const value = content[name]
    if (field.type === 'array' && typeof value === 'string') {
      content[name] = value
        .split(',')
        .map(part => part.trim())
        .filter(Boolean)
    }
  }
  return { ...given, content }
}

// The first revision with forms knew neither several choices, titled choices nor defaults (except for booleans).
function early (field: Field): Field {
  const { default: preset, oneOf, items, minItems, maxItems, uniqueItems, ...rest } = field
  if (field.type === 'boolean') return field
  if (Array.isArray(oneOf)) {
    return {
      ...rest,
      enum: oneOf.map(choice => (choice as Field).const),
      enumNames: oneOf.map(choice => (choice as Field).title)
    }
  }
  if (field.type !== 'array') return rest
  const choices = choicesOf(items).join(', ')
  return {
    ...rest,
    type: 'string',
    description: [rest.description, `Several of these, separated by commas: ${choices}`].filter(Boolean).join('. ')
  }
}

function choicesOf (items: unknown): unknown[] {
  if (!isObject(items)) return []
  return Array.isArray(items.anyOf) ? items.anyOf.map(choice => (choice as Field).const) : items.enum as unknown[] ?? []
}

function mapFields (schema: unknown, change: (field: Field) => Field): Field {
  const properties = Object.entries(fieldsOf(schema)).map(([name, field]) => [name, change(field)])
  return { ...formSchema(schema), properties: Object.fromEntries(properties) }
}

/** TypeBox puts more on an object than a form may have. */
function formSchema (schema: unknown): Field {
  const { $schema, type = 'object', properties = {}, required } = isObject(schema) ? schema : {}
  return {
    ...($schema === undefined ? {} : { $schema }),
    type,
    properties,
    ...(required === undefined ? {} : { required })
  }
}

function fieldsOf (schema: unknown): Record<string, Field> {
  return isObject(schema) && isObject(schema.properties) ? schema.properties as Record<string, Field> : {}
}
