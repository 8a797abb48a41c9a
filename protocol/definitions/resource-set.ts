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
  readonly #findPart: (uri: string) => Resource | undefined

  /**
   * No resource is found for a URI of more than `maxUri` characters; `report` hears of listeners that fail. `findPart`
   * finds what is read by a URI that is not listed and belongs to something larger, such as a skill.
   */
  constructor (maxUri: number, report: Report, findPart: (uri: string) => Resource | undefined = () => undefined) {
    this.fixed = new Collection('resource', report, 'uri')
    this.templates = new Collection('resource template', report, 'uri')
    this.#maxUri = maxUri
    this.#findPart = findPart
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

  /** Removes and puts resources of upstreams. Returns the URIs and templates that local ones have. */
  relay (removed: readonly Resource[], put: readonly Resource[]): string[] {
    return [this.fixed, this.templates].flatMap(collection => {
      const isHere = (resource: Resource): boolean => this.#collectionOf(resource) === collection
      return collection.relay(
        removed.filter(isHere).map(({ uri }) => uri),
        put.filter(isHere).map(item => ({ key: item.uri, item, spellings: item.spellings }))
      )
    })
  }

  get (uri: string): Resource | undefined {
    return this.fixed.get(uri) ?? this.templates.get(uri)
  }

  uris (): string[] {
    return [...this.fixed.keys(), ...this.templates.keys()]
  }

  /**
   * The resource of that URI, what it is a part of, or the first template that matches it, with the values of its
   * variables.
   */
  find (uri: string): FoundResource | undefined {
    if (uri.length > this.#maxUri) return undefined
    const exact = this.fixed.get(uri) ?? this.#findPart(uri)
    if (exact !== undefined) return { resource: exact, variables: {} }
    return this.#findByTemplate(uri)
  }

  // Templates of upstreams come after local ones, in the order of their upstreams.
  #findByTemplate (uri: string): FoundResource | undefined {
    let found: FoundResource | undefined
    for (const resource of this.templates.values()) {
      if (found !== undefined && rankOf(resource) >= rankOf(found.resource)) continue
      const variables = resource.template?.match(uri)
      if (variables === undefined) continue
      if (resource.rank === undefined) return { resource, variables }
      found = { resource, variables }
    }
    return found
  }

  #collectionOf ({ template }: Resource): Collection<Resource> {
    return template === undefined ? this.fixed : this.templates
  }
}

const rankOf = ({ rank }: Resource): number => rank?.() ?? -1
