import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { hasAllScopes } from '../../protocol/wire/identity.js'
import { PreparedResult } from '../../protocol/wire/result.js'
import { leastHints } from '../../protocol/revisions/cache-hints.js'
import type { CacheHints, Features } from '../../protocol/revisions/revision.js'
import { convert } from '../../protocol/revisions/convert.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /**
     * Serves a list method page by page. Pages that all callers share are encoded once per revision and kept in
     * `derived`.
     */
    paginate: (method: string, member: string, listing: Listing | ListingOf) => void
  }
}

interface Listed { readonly listed: Record<string, unknown> }

export interface Page { items: Listed[], last: string | undefined }

/** A list that can be paged: `last` is the key after which the next page begins, undefined on the last page. */
export interface Listing {
  page: (after: string | undefined, size: number, call: Call) => Page | Promise<Page>
  /** Emptied when the list changes; absent when changes are not known. */
  readonly derived?: Map<string, PreparedResult>
  /** The most that clients may be allowed to keep; absent where nothing limits it. */
  readonly mostHints?: () => CacheHints | undefined
}

/** The list that the clients of a view see. */
export type ListingOf = (view: string | undefined) => Listing

interface EncodedPage { entries: string[], last: string | undefined }

/** How many bytes the entries of a page have together, unless one alone has more. */
const MAX_PAGE = 4 * 1024 * 1024

const Cursor = Type.Object({ cursor: Type.Optional(Type.String()) })

const OWN = { ttlMs: 60_000, cacheScope: 'private' } as const
const KNOWN = { ttlMs: 60_000, cacheScope: 'public' } as const
const LIVE = { ttlMs: 0, cacheScope: 'private' } as const

export default fp(async (fastify, { pageSize }: { pageSize: number }) => {
  const { mcp, mcp: { dispatcher, completeness, hops } } = fastify

  mcp.provide('paginate', (method, member, given) => {
    const listingOf = typeof given === 'function' ? given : () => given

    mcp.method(method, Cursor, ({ cursor }, call) => {
      const listing = listingOf(call.peer.view)
      const { derived } = listing
      const after = cursor === undefined ? undefined : position(method, cursor, call)
      const shared = isShared(call) ? derived : undefined
      const isIncomplete = completeness.isIncompleteFor(call)
      const key = `${call.revision.version} ${isIncomplete ? '!' : ''}${after === undefined ? '' : `>${after}`}`
      const known = shared?.get(key)
      if (known !== undefined) return hops.mark(call, known)
      const page = readPage(listing, after, pageSize, call)
      return page instanceof Promise
        ? page.then(found => hops.mark(call, writePage(found, call, listing, isIncomplete)))
        : hops.mark(call, keepPage(writePage(page, call, listing, isIncomplete), shared, key))
    }, { scopes: [] })

    function writePage (
      { entries, last }: EncodedPage,
      call: Call,
      { derived, mostHints }: Listing,
      isIncomplete: boolean
    ): PreparedResult {
      const rest = last === undefined ? {} : { nextCursor: dispatcher.sealer.seal(purpose(method, call), last) }
      const members = JSON.stringify(
        call.revision.cached(
          rest,
          least(derived === undefined || isIncomplete ? LIVE : isShared(call) ? KNOWN : OWN, mostHints?.())
        )
      )
      return new PreparedResult(
        `{${JSON.stringify(member)}:[${entries.join(',')}]${members === '{}' ? '}' : `,${members.slice(1)}`}`
      )
    }
  })

  function position (method: string, cursor: string, call: Call): string {
    const after = dispatcher.sealer.open(purpose(method, call), cursor)
    if (typeof after !== 'string') throw errors.cursorRefused()
    return after
  }
}, { name: 'patchbay-pagination', dependencies: ['patchbay-mcp', 'patchbay-completeness', 'patchbay-hops'] })

const least = (own: CacheHints, most: CacheHints | undefined): CacheHints =>
  most === undefined ? own : leastHints(own, most)

/** True when the caller sees the same list as every other anonymous caller with all scopes. */
const isShared = ({ identity, channel: { narrowing } }: Call): boolean =>
  identity.principal === undefined && hasAllScopes(identity) && narrowing === undefined

/** A cursor is valid only for the list, the view and the caller it was made for. */
function purpose (method: string, { principal, peer: { view } }: Call): string {
  const list = view === undefined ? method : `${method}/${view}`
  return principal === undefined ? list : `${list} ${principal}`
}

/**
 * A page whose entries are encoded; it has fewer than asked for where more would take too many bytes, but always one.
 */
function readPage (
  listing: Listing,
  after: string | undefined,
  size: number,
  call: Call
): EncodedPage | Promise<EncodedPage> {
  const page = listing.page(after, size, call)
  return page instanceof Promise
    ? page.then(found => encodePage(found, listing, after, call))
    : encodePage(page, listing, after, call)
}

function encodePage (
  { items, last }: Page,
  listing: Listing,
  after: string | undefined,
  call: Call
): EncodedPage | Promise<EncodedPage> {
  const entries: string[] = []
  let bytes = 0
  for (const { listed } of items) {
    const entry =
      listing.derived === undefined || isShared(call)
        ? encodeEntry(listed, call.revision.features)
        : encodeEntryOnce(listed, call.revision.features)
    bytes += Buffer.byteLength(entry)
    if (entries.length > 0 && bytes > MAX_PAGE) return readPage(listing, after, entries.length, call)
    entries.push(entry)
  }
  return { entries, last }
}

const encodeEntry = (listed: object, features: Features): string =>
  JSON.stringify(convert.definition(listed as Record<string, unknown>, features))

/**
 * The texts of entries on pages that are made for each request: a caller without all scopes costs no more than the
 * joining of them.
 */
const entryTexts = new WeakMap<Features, WeakMap<object, string>>()

function encodeEntryOnce (listed: object, features: Features): string {
  let texts = entryTexts.get(features)
  if (texts === undefined) entryTexts.set(features, texts = new WeakMap())
  let text = texts.get(listed)
  if (text === undefined) texts.set(listed, text = encodeEntry(listed, features))
  return text
}

function keepPage (page: PreparedResult, pages: Map<string, PreparedResult> | undefined, key: string): PreparedResult {
  pages?.set(key, page)
  return page
}
