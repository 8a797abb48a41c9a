import { isSource } from '../../lib/origins.js'
import { isObject } from '../wire/json.js'

/** The media type of the page of an app. */
export const APP_PAGE = 'text/html;profile=mcp-app'

/** The extension that clients declare which show apps. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui'

/** The capabilities of a client that shows apps. */
export const SHOWS_APPS = { extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_PAGE] } } }

/** How a tool takes part in an app. */
export interface ToolUi {
  /** The URI of the page that shows its results: a resource whose URI begins with `ui://`. */
  resourceUri?: `ui://${string}`
  /** Who may call it: the model, the page of an app of the same server, or both, which is so when this is absent. */
  visibility?: ReadonlyArray<'model' | 'app'>
}

/** Needs of the page of an app, as it tells the client that shows it. */
export interface PageUi {
  /** The origins that it may use, such as `https://api.example.com`; none where a member is absent. */
  csp?: {
    /** For requests and sockets. */
    connectDomains?: readonly string[]
    /** For scripts, styles, pictures, fonts and media. */
    resourceDomains?: readonly string[]
    /** For frames. */
    frameDomains?: readonly string[]
    /** For its base URI. */
    baseUriDomains?: readonly string[]
  }
  permissions?: { camera?: object, microphone?: object, geolocation?: object, clipboardWrite?: object }
  /** The origin that a client which has one for each app gives it. */
  domain?: string
  /** True for a page that looks best with a border around it. */
  prefersBorder?: boolean
}

const CSP = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite']

/** True for the URI of the page of an app. */
export const isPageUri = (uri: unknown): uri is `ui://${string}` =>
  typeof uri === 'string' && uri.startsWith('ui://') && URL.canParse(uri)

/**
 * The URIs of the page that the `_meta` of a tool or result names; the flat member is that of servers which are older
 * than the extension.
 */
export function pagesIn (meta: unknown): string[] {
  if (!isObject(meta)) return []
  const uris = [isObject(meta.ui) ? meta.ui.resourceUri : undefined, meta['ui/resourceUri']]
  return uris.filter(uri => typeof uri === 'string')
}

/** The `_meta` of a tool with what it says of its app, in the form of now and in that of older clients. */
export function withToolUi (ui: ToolUi | undefined, meta: unknown): { _meta?: object } {
  if (ui === undefined) return {}
  checkUi(ui, ['resourceUri', 'visibility'], meta)
  const { resourceUri, visibility } = ui
  if (resourceUri !== undefined && !isPageUri(resourceUri)) {
    throw new Error('"ui.resourceUri" must be a URI that begins with ui://')
  }
  const isKnown = (value: unknown): boolean => value === 'model' || value === 'app'
  if (visibility !== undefined && !(Array.isArray(visibility) && visibility.length > 0 && visibility.every(isKnown))) {
    throw new Error('"ui.visibility" must be a list of "model", "app" or both')
  }
  return {
    _meta: { ...Object(meta) as object, ui: { ...ui }, ...(resourceUri !== undefined && { 'ui/resourceUri': resourceUri }) }
  }
}

/** The `_meta` of the page of an app. */
export function withPageUi (ui: PageUi | undefined, uri: string, meta: unknown): { _meta?: object } {
  if (ui === undefined) return {}
  checkUi(ui, ['csp', 'permissions', 'domain', 'prefersBorder'], meta)
  if (!uri.startsWith('ui://')) throw new Error('only a resource whose URI begins with ui:// has "ui"')
  const { csp = {}, permissions = {}, domain, prefersBorder } = ui
  checkNames('ui.csp', csp, CSP)
  checkNames('ui.permissions', permissions, PERMISSIONS)
  for (const [name, domains] of Object.entries(csp)) {
    if (!Array.isArray(domains) || !domains.every(isSource)) {
      throw new Error(`"ui.csp.${name}" must be a list of origins such as https://api.example.com`)
    }
  }
  for (const [name, value] of Object.entries(permissions)) {
    if (!isObject(value)) throw new Error(`"ui.permissions.${name}" must be {}`)
  }
  if (domain !== undefined && typeof domain !== 'string') throw new Error('"ui.domain" must be text')
  if (prefersBorder !== undefined && typeof prefersBorder !== 'boolean') {
    throw new Error('"ui.prefersBorder" must be true or false')
  }
  return { _meta: { ...Object(meta) as object, ui: { ...ui } } }
}

function checkUi (ui: object, members: readonly string[], meta: unknown): void {
  if (!isObject(ui)) throw new Error('"ui" must be an object')
  checkNames('ui', ui, members)
  if (isObject(meta) && 'ui' in meta) throw new Error('it has both "ui" and "_meta.ui"; use "ui" alone')
}

function checkNames (what: string, value: unknown, names: readonly string[]): void {
  if (!isObject(value)) throw new Error(`"${what}" must be an object`)
  const unknown = Object.keys(value).find(name => !names.includes(name))
  if (unknown !== undefined) throw new Error(`there is no "${what}.${unknown}"; there are ${names.join(', ')}`)
}
