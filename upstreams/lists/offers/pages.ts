import { pagesIn } from '../../../protocol/definitions/app.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Entry } from '../reading/kinds.js'
import type { Origin } from './definitions.js'

/** The URIs under which clients read the pages that the entry of a tool names, as text to compare; '' for none. */
export function shownPages (origin: Origin, entry: Entry): string {
  return entry._meta === undefined ? '' : pagesIn(entry._meta).map(uri => origin.pageUri(uri)).join(' ')
}

/** The entry of a tool, with the URIs under which clients read its pages in place of its own. */
export function withPages (origin: Origin, listed: Entry): Entry {
  const { _meta: meta } = listed
  if (!isObject(meta) || pagesIn(meta).every(uri => origin.pageUri(uri) === uri)) return listed
  const { ui, 'ui/resourceUri': flat } = meta
  return {
    ...listed,
    _meta: {
      ...meta,
      ...(isObject(ui) && typeof ui.resourceUri === 'string' && {
        ui: { ...ui, resourceUri: origin.pageUri(ui.resourceUri) }
      }),
      ...(typeof flat === 'string' && { 'ui/resourceUri': origin.pageUri(flat) })
    }
  }
}
