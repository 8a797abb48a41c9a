import { isSource, underOtherName } from '../../lib/origins.js'
import { isObject, type Client, type Json, type JsonObject } from '../client/contract.js'

const PAGE_TYPE = 'text/html;profile=mcp-app'

/** The origins that a page may use, by the members of `csp` that the extension has. */
export type Domains = Record<typeof MEMBERS[number], string[]>

export const MEMBERS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const

/** The page of an app as it was read. */
export interface Page {
  html: string
  domains: Domains
  /** Declared domains that are no sources of a policy, which the page does not get. */
  refused: string[]
  hasBorder: boolean
}

/** The URI of the page of a tool; undefined for a tool without one. */
export function pageUriOf ({ _meta }: JsonObject): string | undefined {
  if (!isObject(_meta)) return undefined
  const named = (isObject(_meta.ui) ? _meta.ui.resourceUri : undefined) ?? _meta['ui/resourceUri']
  return typeof named === 'string' && named.startsWith('ui://') ? named : undefined
}

/**
 * Reads the page of an app. What its list entry says counts where its contents say nothing. Throws an error in words.
 */
export async function readPage (client: Client, uri: string, listed: JsonObject | undefined): Promise<Page> {
  const { contents } = await client.request('resources/read', { uri })
  const content = Array.isArray(contents) ? contents.find(isObject) : undefined
  if (content === undefined) throw new Error('the server sent no page')
  if (content.mimeType !== PAGE_TYPE) {
    throw new Error(`the server sent ${JSON.stringify(content.mimeType ?? 'no media type')}, not ${PAGE_TYPE}`)
  }
  const ui = uiOf(content) ?? uiOf(listed) ?? {}
  return { html: htmlOf(content), ...domainsOf(ui.csp ?? null), hasBorder: ui.prefersBorder !== false }
}

const uiOf = (item: JsonObject | undefined): JsonObject | undefined => {
  const { ui } = isObject(item?._meta) ? item._meta : {}
  return isObject(ui) ? ui : undefined
}

function htmlOf ({ text, blob }: JsonObject): string {
  if (typeof text === 'string') return text
  if (typeof blob !== 'string') throw new Error('the server sent a page without text')
  return new TextDecoder().decode(Uint8Array.from(atob(blob), character => character.charCodeAt(0)))
}

/** Takes of a `csp` what a policy can say: never more than was declared. */
export function domainsOf (csp: Json): Pick<Page, 'domains' | 'refused'> {
  const declared = MEMBERS.map(member => {
    const list = isObject(csp) ? csp[member] : undefined
    return [member, Array.isArray(list) ? list : []] as const
  })
  return {
    domains: Object.fromEntries(declared.map(([member, list]) => [member, list.filter(isSource)])) as Domains,
    refused: declared.flatMap(([, list]) => list.filter(entry => !isSource(entry)).map(entry => JSON.stringify(entry)))
  }
}

/**
 * The URL of the sandbox in which a page is shown, of this gateway on another origin; undefined where there is none.
 * Its headers are made for these domains.
 */
export function sandboxUrl (page: string, domains: Domains): URL | undefined {
  const url = underOtherName(new URL('sandbox.html', page).href)
  if (url === undefined) return undefined
  url.search = ''
  url.hash = ''
  for (const member of MEMBERS) for (const entry of domains[member]) url.searchParams.append(member, entry)
  return url
}
