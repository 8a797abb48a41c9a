import type { IncomingHttpHeaders } from 'node:http'

/** The parts of a reply that name the next one. */
interface Paged {
  readonly headers: IncomingHttpHeaders
  readonly path: string
}

/** The longest reference to a next page, in characters. */
const MAX = 1_024

/** A sentence about the next page of a reply that names one (RFC 8288, `rel="next"`); undefined for others. */
export function nextPage ({ headers: { link }, path }: Paged, setQuery: ReadonlySet<string>): string | undefined {
  const given = Array.isArray(link) ? link.join(', ') : link
  if (typeof given !== 'string' || given.length > 8 * MAX) return undefined
  const next = given.split(/,\s*(?=<)/).find(each => /;\s*rel="?(?:[^"]*\s)?next\b/i.test(each))
  const [, target = ''] = /^\s*<([^>]*)>/.exec(next ?? '') ?? []
  const here = `http://api.invalid${path}`
  if (target === '' || target.length > MAX || !URL.canParse(target, here)) return undefined
  const query = new URL(target, here).searchParams
  const before = new URL(here).searchParams
  // Arguments that are as before need not be repeated, and what the entry sets is not the caller's.
  const changed = [...query].filter(([name, value]) => before.get(name) !== value && !setQuery.has(name))
  return changed.length === 0
    ? undefined
    : `There is a next page: call this tool again with ${changed.map(([name, value]) => `${name}=${value}`).join(', ')}`
}
