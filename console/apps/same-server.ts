import { isObject } from '../client/contract.js'
import type { Item } from '../state/lists.js'
import { pageUriOf } from './page.js'

/** Facts that tell what the page of an app may reach, on the connection that has everything. */
export interface Reach {
  /** The tool that was called. */
  shown: Item
  /** All tools that are listed. */
  tools: readonly Item[]
  /** True for a view, whose tools may be of several servers without saying so in their names. */
  isView: boolean
}

/**
 * The tool that a page means by a name: one of its own server that apps may call. The page knows it by the name that
 * its server has for it, or by the one that it has here.
 */
export function toolFor (reach: Reach, name: unknown): Item | undefined {
  const own = ownTools(reach)
  const long = `${reach.shown.group}__${String(name)}`
  const found = own.find(({ key }) => key === name) ?? own.find(({ key }) => key === long)
  return found !== undefined && isForApps(found) ? found : undefined
}

/** The URI that leads to a resource of the page's own server alone; undefined where it may lead to another's. */
export function resourceFor (reach: Reach, uri: unknown): string | undefined {
  if (typeof uri !== 'string') return undefined
  if (ownTools(reach).some(({ raw }) => pageUriOf(raw) === uri)) return uri
  const { group } = reach.shown
  if (group === '') return reach.isView ? undefined : uri
  if (uri.startsWith(`${group}+`) || uri.startsWith(`ui://${group}+`)) return uri
  return uri.startsWith('ui://') ? `ui://${group}+${uri.slice('ui://'.length)}` : `${group}+${uri}`
}

function ownTools ({ shown, tools, isView }: Reach): Item[] {
  const page = pageUriOf(shown.raw)
  return tools.filter(({ group, raw }) => group === shown.group && (group !== '' || !isView || pageUriOf(raw) === page))
}

function isForApps ({ raw: { _meta } }: Item): boolean {
  const { visibility } = isObject(_meta) && isObject(_meta.ui) ? _meta.ui : {}
  return visibility === undefined || (Array.isArray(visibility) && visibility.includes('app'))
}
