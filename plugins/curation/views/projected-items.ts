import { canonicalName } from '../../../protocol/definitions/common-members.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { projectItem, projectResource } from './projection.js'
import type { ViewDefinition } from './selection.js'

/** The items of a view by those of the whole gateway that they are made of. One that did not change stays the same. */
export class ProjectedItems {
  readonly #definition: ViewDefinition
  readonly #made = new WeakMap<object, Tool | Prompt | Resource>()
  /** Why items are left out that could not be shown, by kind and canonical name. */
  readonly #failures = { tool: new Map<string, string>(), prompt: new Map<string, string>() }

  constructor (definition: ViewDefinition) {
    this.#definition = definition
  }

  /** Sentences about items that are left out. */
  get failures (): string[] {
    return Object.values(this.#failures).flatMap(failures => [...failures]).map(
      ([name, why]) => `"${name}" is left out, because it cannot be shown as the view demands: ${why}`
    )
  }

  /** The item that was made last of one of the whole. */
  get<T extends Tool | Prompt> (item: T): T | undefined {
    return this.#made.get(item) as T | undefined
  }

  /** Forgets which items of a kind failed, before all of them are made. */
  begin (kind: 'tools' | 'prompts'): void {
    this.#failures[kind === 'tools' ? 'tool' : 'prompt'].clear()
  }

  /** Undefined for an item that cannot be shown as the view demands: it is left out, and costs no other. */
  named<T extends Tool | Prompt> (item: T, name: string): T | undefined {
    const known = this.get(item)
    if (known?.name === name) return known
    const failures = this.#failures[item.kind]
    try {
      const made = projectItem(item, name, this.#definition)
      failures.delete(canonicalName(item))
      this.#made.set(item, made)
      return made
    } catch (error) {
      failures.set(canonicalName(item), (error as Error).message)
      return undefined
    }
  }

  resource (item: Resource): Resource {
    const made = this.#made.get(item) as Resource | undefined ?? projectResource(item, this.#definition)
    this.#made.set(item, made)
    return made
  }
}
