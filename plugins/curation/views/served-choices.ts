import { createHash } from 'node:crypto'
import type { Values } from '../../../protocol/store.js'
import { isObject } from '../../../protocol/wire/json.js'
import { hasOwnNames } from './projection.js'
import type { ViewDefinition, ViewDefinitions } from './selection.js'

const SPACE = 'views'
const KEY = 'short-names'

/**
 * Remembers in the store which choices of things views with names of their own were served with: what clashes in one
 * of them came later, and must not refuse the next start.
 */
export class ServedChoices {
  readonly #values: Values

  constructor (values: Values) {
    this.#values = values
  }

  /** The choices by the names of views; none where the store fails. */
  async load (): Promise<Readonly<Record<string, unknown>>> {
    const stored = await this.#values.get(SPACE, KEY).catch(() => undefined)
    return isObject(stored) ? stored : {}
  }

  /** Never rejects: a store that fails is reported by itself. */
  async save (definitions: ViewDefinitions): Promise<void> {
    const named = Object.entries(definitions).filter(([, definition]) => hasOwnNames(definition))
    if (named.length === 0) return
    const choices = Object.fromEntries(named.map(([name, definition]) => [name, choiceOf(definition)]))
    await this.#values.put(SPACE, KEY, choices).catch(() => {})
  }
}

/** A hash of the members that decide what is in a view, and under which names. */
export function choiceOf (definition: ViewDefinition): string {
  const { description, instructions, scopes, resources, resourcesAsTools, override = {}, results, search, ...choice } =
    definition
  // Not the values of arguments, which may be secret.
  const overrides = Object.entries(override).map(([tool, { name, annotations }]) => [tool, name, annotations])
  const members = Object.entries({ ...choice, overrides: overrides.sort() })
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url')
}
