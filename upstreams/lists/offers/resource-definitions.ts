import { qualifiedPage, type Relayed } from '../../../protocol/definitions/common-members.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import { MAX_URI, uriTemplate, type UriTemplate } from '../../../protocol/definitions/uri-template.js'
import type { ResourceContents } from '../../../protocol/wire/content.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { refOf, type Origin } from './definitions.js'
import type { Entry } from '../reading/kinds.js'

/** The URI of a resource whose own URI another server has. */
export const qualifyUri = (alias: string, uri: string): string => `${alias}+${uri}`

/** A resource of an upstream, under its own URI or, when `qualified`, with the alias in it. */
export function relayedResource (origin: Origin, entry: Entry, qualified: boolean): Resource {
  const original = entry.uri as string
  const other = qualifyUri(origin.alias, original)
  const known = original.startsWith('ui://') ? [qualifiedPage(origin.alias, original), other] : [other]
  const [uri = other, ...spellings] = qualified ? known : [original, ...known]
  return {
    ...relayedReading(origin, () => original),
    uri,
    template: undefined,
    listed: { ...entry, uri },
    spellings,
    accessName: uri === original ? undefined : other,
    scopeNames: [other, original]
  }
}

/** A template of an upstream; URIs that match are the upstream's. */
export function relayedTemplate (origin: Origin, entry: Entry, qualified: boolean): Resource {
  const original = entry.uriTemplate as string
  const prefix = qualifyUri(origin.alias, '')
  const other = prefix + original
  const uri = qualified ? other : original
  const page = qualifiedPage(origin.alias, 'ui://')
  const bare = (asked: string): string => asked.startsWith(prefix)
    ? asked.slice(prefix.length)
    : asked.startsWith(page) ? `ui://${asked.slice(page.length)}` : asked
  return {
    ...relayedReading(origin, bare),
    uri,
    template: matching(templateIn(entry), asked => origin.mayHave(asked) ? bare(asked) : undefined),
    listed: { ...entry, uriTemplate: uri },
    spellings: qualified ? [] : [other],
    scopeNames: [other, original],
    relayCompletion: (params, call) => origin.complete({ ...params, ref: { ...refOf(params), uri: original } }, call)
  }
}

/** A resource that an upstream did not list, such as the target of a link in a result; `original` is its own URI. */
export function unlistedResource (origin: Origin, uri: string, original = uri): Resource {
  return {
    ...relayedReading(origin, () => original),
    uri,
    template: undefined,
    listed: { uri, name: uri },
    accessName: uri === original ? undefined : qualifyUri(origin.alias, original),
    scopeNames: [qualifyUri(origin.alias, original), original]
  }
}

/** Tells whether we understand the template of an entry; the upstream may understand more. */
export function isMatchable (entry: Entry): boolean {
  return templateIn(entry) !== undefined
}

function relayedReading (
  origin: Origin,
  originalOf: (uri: string) => string
): Omit<Resource, 'uri' | 'template' | 'listed'> {
  const relay: Relayed['relay'] = (params, call) =>
    origin.relay('resources/read', { ...params, uri: originalOf(String(params.uri)) }, call)
  return {
    kind: 'resource',
    scopes: origin.scopes,
    upstream: origin.alias,
    rank: () => origin.rank,
    cache: {},
    complete: {},
    list: undefined,
    watch: undefined,
    relayWatch: async (uri, changed, identity) => await origin.watch(originalOf(uri), changed, identity),
    relay,
    read: async (uri, _variables, call) => (await relay({ uri } satisfies Params, call)).contents as ResourceContents[]
  }
}

function matching (parsed: UriTemplate | undefined, originalOf: (uri: string) => string | undefined): UriTemplate {
  if (parsed === undefined) return UNMATCHED
  return {
    variables: parsed.variables,
    match: uri => {
      const original = originalOf(uri)
      return original === undefined ? undefined : parsed.match(original)
    }
  }
}

const UNMATCHED: UriTemplate = { variables: [], match: () => undefined }

/** The most variables of a template that we look at: every URI is compared with every template. */
const MAX_VARIABLES = 32

const templates = new WeakMap<Entry, { readonly parsed: UriTemplate | undefined }>()

/** The template of an entry, parsed once: an upstream may have thousands. Undefined where we do not understand it. */
export function templateIn (entry: Entry): UriTemplate | undefined {
  const known = templates.get(entry) ?? { parsed: parseTemplate(entry.uriTemplate as string) }
  templates.set(entry, known)
  return known.parsed
}

/** Undefined for a template that we do not understand. */
export function parseTemplate (template: string): UriTemplate | undefined {
  if (template.length > MAX_URI || template.split(/[{,]/, MAX_VARIABLES + 2).length > MAX_VARIABLES + 1) {
    return undefined
  }
  try {
    return uriTemplate(template)
  } catch {
    return undefined
  }
}
