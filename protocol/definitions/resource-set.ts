import type { Report } from '../../lib/listeners.js'
import { Collection } from './collection.js'
import { checkKind } from './definition-registry.js'
import type { Resource } from './resource.js'
import type { Variables } from './uri-template.js'

/** A resource and the variables of its template. */
export interface FoundResource { resource: Resource, variables: Variables }

/** All resources: those with a URI of their own, and templates for many. */
export class ResourceSet {
  readonly fixed: Collection<Resource>
  readonly templates: Collection<Resource>
  readonly #maxUri: number

  /** No resource is found for a URI of more than `maxUri` characters; `report` hears of listeners that fail. */
  constructor (maxUri: number, report: Report) {
    this.fixed = new Collection('resource', report, 'uri')
    this.templates = new Collection('resource template', report, 'uri')
    this.#maxUri = maxUri
  }

  add (resource: Resource): void {
    checkKind('resource', resource)
    this.#collectionOf(resource).add(resource.uri, resource)
  }

  /** Puts it in the place of the one of its URI or template, if there is one. */
  replace (resource: Resource): void {
    checkKind('resource', resource)
    this.#collectionOf(resource).replace(resource.uri, resource)
  }

  /** By the URI or template it was added with. */
  remove (uri: string): boolean {
    return this.fixed.remove(uri) || this.templates.remove(uri)
  }

  clear (): void {
    this.fixed.clear()
    this.templates.clear()
  }

  /** Removes and puts resources of upstreams, by URI or template. Returns those that local ones have. */
  relay (removed: readonly string[], resources: readonly Resource[]): string[] {
    const items = resources.map(item => ({ key: item.uri, item, spellings: item.spellings }))
    const isFixed = ({ item: { template } }: { item: Resource }): boolean => template === undefined
    return [
      ...this.fixed.relay(removed, items.filter(isFixed)),
      ...this.templates.relay(removed, items.filter(item => !isFixed(item)))
    ]
  }

  get (uri: string): Resource | undefined {
    return this.fixed.get(uri) ?? this.templates.get(uri)
  }

  uris (): string[] {
    return [...this.fixed.keys(), ...this.templates.keys()]
  }

  /** The resource of that URI, or the first template that matches it, with the values of its variables. */
  find (uri: string): FoundResource | undefined {
    if (uri.length > this.#maxUri) return undefined
    const exact = this.fixed.get(uri)
    if (exact !== undefined) return { resource: exact, variables: {} }
    for (const resource of this.templates.values()) {
      const variables = resource.template?.match(uri)
      if (variables !== undefined) return { resource, variables }
    }
    return undefined
  }

  #collectionOf ({ template }: Resource): Collection<Resource> {
    return template === undefined ? this.fixed : this.templates
  }
}
