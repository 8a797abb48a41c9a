import { pagesIn } from '../../protocol/definitions/app.js'
import { MAX_URI } from '../../protocol/definitions/uri-template.js'
import { isObject } from '../../protocol/wire/json.js'

/** How many values of a result are looked at for links. */
const LOOKED_AT = 1_000

/**
 * Which upstream handed out a URI to which caller, so that a resource can be read that is not listed. Bounded: the
 * oldest are forgotten, and a longer URI than a template can match is none.
 */
export class Links {
  readonly #max: number
  readonly #rankOf: (alias: string) => number | undefined
  readonly #callers = new Map<string | undefined, Map<string, string>>()

  /**
   * `max` is the most links of one caller, and the most callers. `rankOf` is the place of an upstream among the others;
   * undefined when it is gone.
   */
  constructor (max: number, rankOf: (alias: string) => number | undefined) {
    this.#max = max
    this.#rankOf = rankOf
  }

  /** Remembers the links, embedded resources and pages of a result. */
  note (principal: string | undefined, alias: string, result: Readonly<Record<string, unknown>>): void {
    this.noteUris(principal, alias, linksIn(result))
  }

  /** Remembers that a caller got these URIs. */
  noteUris (principal: string | undefined, alias: string, all: readonly string[]): void {
    const uris = all.filter(({ length }) => length <= MAX_URI)
    if (uris.length === 0) return
    const links = this.#callers.get(principal) ?? new Map<string, string>()
    for (const uri of uris) setLast(links, uri, this.#first(links.get(uri), alias), this.#max)
    setLast(this.#callers, principal, links, this.#max)
  }

  /** The alias of the upstream that handed it out; of several, the one that is configured first. */
  find (principal: string | undefined, uri: string): string | undefined {
    return this.#callers.get(principal)?.get(uri)
  }

  #first (known: string | undefined, alias: string): string {
    return known !== undefined && (this.#rankOf(known) ?? Infinity) < (this.#rankOf(alias) ?? Infinity) ? known : alias
  }
}

/** The URIs of `resource_link` and `resource` blocks and of pages that `_meta` names. */
export function linksIn ({ content, messages, _meta }: Readonly<Record<string, unknown>>): string[] {
  const uris = pagesIn(_meta)
  if (Array.isArray(content)) for (const block of content.slice(0, LOOKED_AT)) addLink(block, uris)
  if (Array.isArray(messages)) {
    for (const message of messages.slice(0, LOOKED_AT)) addLink(isObject(message) ? message.content : undefined, uris)
  }
  return uris
}

function addLink (block: unknown, uris: string[]): void {
  if (!isObject(block)) return
  const { type, resource, _meta } = block
  const uri =
    type === 'resource_link' ? block.uri : type === 'resource' && isObject(resource) ? resource.uri : undefined
  if (typeof uri === 'string') uris.push(uri)
  if (_meta !== undefined) uris.push(...pagesIn(_meta))
}

function setLast<K, V> (map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value as K)
}
