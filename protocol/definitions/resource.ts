import type { Awaitable } from '../../lib/awaitable.js'
import type { Call } from '../dispatch/call.js'
import type { Annotations, ResourceContents } from '../wire/content.js'
import { APP_PAGE, withPageUi, type PageUi } from './app.js'
import { checkFunctions, checkMembers, checkName, checkPart, checkScopes } from './checks.js'
import type { Completers, Relayed } from './common-members.js'
import { isObject } from '../wire/json.js'
import { checkLengths } from '../wire/result-size.js'
import { isTemplate, uriTemplate, type UriTemplate, type Variables, type VariablesOf } from './uri-template.js'
import type { CacheHints } from '../revisions/revision.js'

/** Text, bytes, JSON, or contents spelled out. */
export type ResourceValue = string | Uint8Array | object | ResourceContents[]

/** One of the resources behind a template, as it is listed. */
export interface ListedResource {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
}

export interface ResourceDefinition<U extends string = string> {
  /** A URI, or an RFC 6570 template such as `note:///{id}`, which serves every URI that matches. */
  uri: U
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
  annotations?: Annotations
  icons?: object[]
  _meta?: Record<string, unknown>
  /** Needs of the page of an app, where the URI begins with `ui://`: docs/apps.md. */
  ui?: PageUi
  /** Scopes that a caller must have been granted to use it; `mcp` when absent. The operator has the last word. */
  scopes?: readonly string[]
  /** How long clients may keep what they read. */
  cache?: Partial<CacheHints>
  /** Suggestions for the variables of a template. */
  complete?: Completers
  /**
   * Lists what is behind a template now: at most `size` resources after a URI, in the order of `list` itself. Makes
   * them part of the list.
   */
  list?: (after: string | undefined, size: number, call: Call) => Awaitable<ListedResource[]>
  /**
   * Runs when the first client subscribes to a URI; call `changed` to notify all that did. Returns a function that
   * stops it, or undefined when there is no such resource.
   */
  watch?: (uri: string, changed: () => void) => Awaitable<(() => void) | undefined>
  /** Returns undefined when there is no such resource: the client gets an error. `uri` is as the client sent it. */
  read: (variables: VariablesOf<U>, call: Call, uri: string) => Awaitable<ResourceValue | undefined>
}

/** A resource or resource template as the registry keeps it. */
export interface Resource extends Relayed {
  readonly kind: 'resource'
  readonly scopes: readonly string[] | undefined
  readonly uri: string
  readonly template: UriTemplate | undefined
  readonly listed: Record<string, unknown>
  readonly cache: Partial<CacheHints>
  readonly complete: Completers
  readonly list: ResourceDefinition['list']
  readonly watch: ResourceDefinition['watch']
  read (uri: string, variables: Variables, call: Call): Promise<ResourceContents[] | undefined>
}

const MEMBERS = [
  'uri',
  'name',
  'title',
  'description',
  'mimeType',
  'size',
  'annotations',
  'icons',
  '_meta',
  'ui',
  'scopes',
  'cache',
  'complete',
  'list',
  'watch',
  'read'
]
const ALIAS = { uriTemplate: 'uri', template: 'uri', handler: 'read', load: 'read' }

/** Describes a resource, or a family of them when `uri` is a template. */
export function resource<const U extends string> (definition: ResourceDefinition<U>): Resource {
  const { uri, read, list, watch, cache = {}, complete = {}, scopes, ui, ...given } = definition
  const what = checkName('resource', given.name, /./, 'some text')
  checkMembers(what, definition, MEMBERS, ALIAS)
  checkScopes(what, definition)
  checkPart(what, definition, 'uri', 'string')
  checkPart(what, definition, 'read', 'function')
  checkFunctions(what, definition, ['list', 'watch'])
  const template = isTemplate(uri) ? uriTemplate(uri) : undefined
  if (template === undefined && !URL.canParse(uri)) throw new Error(`${what}: "${uri}" is not a URI`)
  if (list !== undefined && template === undefined) throw new Error(`${what}: only a template has a "list"`)
  for (const name of Object.keys(complete)) {
    if (template?.variables.includes(name) !== true) throw new Error(`${what}: "${name}" is not a variable of ${uri}`)
  }
  const isPage = uri.startsWith('ui://')
  if (ui !== undefined && given.mimeType !== undefined && given.mimeType !== APP_PAGE) {
    throw new Error(`${what}: the page of an app has the mimeType "${APP_PAGE}", which is so when it is left out`)
  }
  const page = ofPage(what, () => withPageUi(ui, uri, given._meta))
  const rest = { ...(isPage && { mimeType: APP_PAGE }), ...given, ...page }
  return {
    kind: 'resource',
    scopes,
    uri,
    template,
    listed: { [template === undefined ? 'uri' : 'uriTemplate']: uri, ...rest },
    cache,
    complete,
    list,
    watch,
    read: async (asked, variables, call) => {
      const value = await read(variables as VariablesOf<U>, call, asked)
      return value === undefined ? undefined : toContents(asked, value, rest.mimeType, ui)
    }
  }
}

function ofPage<T> (what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
}

/** The `ui` of a page stands beside each of its contents: clients need not read the list. */
function toContents (
  uri: string,
  value: ResourceValue,
  mimeType: string | undefined,
  ui: PageUi | undefined
): ResourceContents[] {
  if (!(value instanceof Uint8Array)) checkLengths(value)
  if (Array.isArray(value) && value.every(isContents)) return value
  const type = { ...(mimeType !== undefined && { mimeType }), ...(ui !== undefined && { _meta: { ui } }) }
  if (typeof value === 'string') return [{ uri, ...type, text: value }]
  if (value instanceof Uint8Array) return [{ uri, ...type, blob: Buffer.from(value).toString('base64') }]
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined) throw new Error(`a ${typeof value} is no resource`)
  return [{ uri, mimeType: 'application/json', ...type, text: json }]
}

const isContents = (value: unknown): value is ResourceContents =>
  isObject(value) && typeof value.uri === 'string' && (typeof value.text === 'string' || typeof value.blob === 'string')
