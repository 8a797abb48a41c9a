import type { Call } from '../dispatch/call.js'
import type { Collection } from './collection.js'
import type { Resource } from './resource.js'

interface Page { items: Array<{ listed: Record<string, unknown> }>, last: string | undefined }

interface Fixed {
  page: (after: string | undefined, size: number, call: Call) => { items: Resource[], last: string | undefined }
}

/** Where the next page begins: after a fixed resource, or after a resource of a template. */
type Place = [template: string | null, after: string | null]

/**
 * Pages through the fixed resources, and then through the resources of each template that has a `list`. `allows` is
 * asked of each template, and of each URI that it lists.
 */
export function resourceListing (
  fixed: Fixed,
  templates: Collection<Resource>,
  allows: (call: Call, resource: Resource, uri?: string) => boolean
): { page: (after: string | undefined, size: number, call: Call) => Promise<Page> } {
  return {
    page: async (position, size, call) => {
      const [template, after] = position === undefined ? ([null, null] as Place) : (JSON.parse(position) as Place)
      if (template !== null) return await pageOfTemplates(template, after ?? undefined, size, [], call)
      const { items, last } = fixed.page(after ?? undefined, size, call)
      return last === undefined
        ? await pageOfTemplates('', undefined, size, items, call)
        : { items, last: place(null, last) }
    }
  }

  async function pageOfTemplates (
    first: string,
    after: string | undefined,
    size: number,
    start: Page['items'],
    call: Call
  ): Promise<Page> {
    const items = [...start]
    let from = after
    for (const resource of following(first)) {
      const { uri, list } = resource
      if (list === undefined || !allows(call, resource)) continue
      if (items.length === size) return { items, last: place(uri, undefined) }
      const left = size - items.length
      const found = await list(uri === first ? from : undefined, left + 1, call)
      const shown = found.slice(0, left).filter(listed => allows(call, resource, listed.uri))
      items.push(...shown.map(listed => ({ listed: { ...listed } })))
      if (found.length > left) return { items, last: place(uri, found[left - 1]?.uri) }
      from = undefined
    }
    return { items, last: undefined }
  }

  function following (first: string): Resource[] {
    return [...templates.values()].filter(({ uri }) => uri >= first).sort((a, b) => (a.uri < b.uri ? -1 : 1))
  }
}

const place = (template: string | null, after: string | undefined): string => JSON.stringify([template, after ?? null])
