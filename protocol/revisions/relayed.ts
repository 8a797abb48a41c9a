import { text, type ContentBlock, type ResourceContents } from '../wire/content.js'
import { isObject } from '../wire/json.js'
import { META } from '../wire/meta.js'
import { convert } from './convert.js'
import { hintsOf, leastHints } from './cache-hints.js'
import type { CacheHints, Features, Revision } from './revision.js'

/**
 * Converts results of upstreams into what a revision can say. Blocks, members and `_meta` that we do not know survive.
 */
export const relayed = { callResult, promptResult, readResult, anyResult }

type Result = Record<string, unknown>

/** The members of results that only the stateless revision has. */
const STATELESS = new Set(['resultType', 'ttlMs', 'cacheScope'])

function callResult (result: Result, revision: Revision): Result {
  const out = anyResult(result, revision)
  const { features } = revision
  const { content, structuredContent } = out
  if (isSayable(features) && (structuredContent === undefined || convert.fits(structuredContent, features))) return out
  const { structuredContent: _, ...rest } = out
  const keeps = structuredContent !== undefined && convert.fits(structuredContent, features)
  const blocks = Array.isArray(content) ? content.map(block => convertBlock(block, features)) : content
  // Without this the client would get nothing of a result that is structured only.
  const shown =
    !keeps && structuredContent !== undefined && Array.isArray(blocks) && blocks.length === 0
      ? [text(JSON.stringify(structuredContent))]
      : blocks
  return { ...rest, ...(shown === undefined ? {} : { content: shown }), ...(keeps ? { structuredContent } : {}) }
}

function promptResult (result: Result, revision: Revision): Result {
  const out = anyResult(result, revision)
  const { messages } = out
  if (isSayable(revision.features) || !Array.isArray(messages)) return out
  return {
    ...out,
    messages: messages.map((message: unknown) =>
      isObject(message) ? { ...message, content: convertBlock(message.content, revision.features) } : message
    )
  }
}

/** `limit` is the most that the client may be allowed to keep. */
function readResult (result: Result, revision: Revision, limit: CacheHints): Result {
  const out = anyResult(result, revision)
  if (isQuestion(out)) return out
  const { ttlMs, cacheScope, contents, ...rest } = out
  const parts =
    Array.isArray(contents) && contents.every(isObject)
      ? convert.contents(contents as unknown as ResourceContents[], revision.features)
      : contents
  return revision.cached({ contents: parts, ...rest }, leastHints(hintsOf(out) ?? NO_HINTS, limit))
}

/** Drops what concerns the hop to the upstream only. */
function anyResult (result: Result, revision: Revision): Result {
  const { _meta: meta } = result
  const hasStamp = isObject(meta) && META.serverInfo in meta
  const hasStateless = !revision.stateless && ('resultType' in result || 'ttlMs' in result || 'cacheScope' in result)
  if (!hasStamp && !hasStateless) return result
  const out: Result = {}
  for (const key in result) if (key !== '_meta' && !(hasStateless && STATELESS.has(key))) out[key] = result[key]
  const kept = hasStamp ? withoutStamp(meta) : meta
  if (kept !== undefined) out._meta = kept
  return out
}

const NO_HINTS: CacheHints = { ttlMs: 0, cacheScope: 'private' }

const isQuestion = ({ resultType }: Result): boolean => resultType !== undefined && resultType !== 'complete'

const isSayable = ({ titles, audio }: Features): boolean => titles && audio

function convertBlock (block: unknown, features: Features): unknown {
  return isObject(block) ? convert.content(block as unknown as ContentBlock, features) : block
}

function withoutStamp (meta: Result): Result | undefined {
  let kept: Result | undefined
  for (const key in meta) if (key !== META.serverInfo) (kept ??= {})[key] = meta[key]
  return kept
}
