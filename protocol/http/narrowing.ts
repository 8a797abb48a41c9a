import { matcherOf } from '../../lib/glob.js'
import type { Headers } from '../wire/channel.js'
import { isObject } from '../wire/json.js'
import type { Narrowed, Narrowing } from '../wire/narrowing.js'
import { httpErrors } from './http-errors.js'

/** The most names, and among them patterns, of one list: every tool is compared with every pattern. */
const [MAX_NAMES, MAX_PATTERNS] = [512, 32]
/** The most characters of a pattern. */
const MAX_PATTERN = 128

/** How many narrowings are remembered: clients send the same text with each request. */
const MAX_KNOWN = 64

const known = new Map<string, Narrowing>()

/**
 * The narrowing that the query and the headers of an HTTP request ask for: `?tools=`, `?readonly`, `X-MCP-Tools`,
 * `X-MCP-Exclude-Tools`, `X-MCP-Toolsets` and `X-MCP-Readonly`; undefined where they ask for none. Throws an HTTP error
 * for lists that are too long.
 */
export function narrowingOf (query: unknown, headers: Headers): Narrowing | undefined {
  const { tools, readonly } = query as Record<string, unknown>
  const {
    'x-mcp-tools': own,
    'x-mcp-exclude-tools': excluded,
    'x-mcp-toolsets': toolsets,
    'x-mcp-readonly': reading
  } = headers
  if (
    tools === undefined &&
    readonly === undefined &&
    own === undefined &&
    excluded === undefined &&
    toolsets === undefined &&
    reading === undefined
  ) { return undefined }
  const asked = [tools, readonly, own, excluded, toolsets, reading].map(value =>
    value === undefined ? undefined : String(value)
  )
  const key = JSON.stringify(asked)
  return known.get(key) ?? remember(key, narrowingBy(asked))
}

function remember (key: string, narrowing: Narrowing | undefined): Narrowing | undefined {
  if (narrowing === undefined) return undefined
  for (const oldest of known.keys()) {
    if (known.size < MAX_KNOWN) break
    known.delete(oldest)
  }
  known.set(key, narrowing)
  return narrowing
}

function narrowingBy ([tools, readonly, own, excluded, toolsets, reading]: Array<string | undefined>):
  Narrowing | undefined {
  const servers = namesIn(toolsets, 'X-MCP-Toolsets')
  const [byQuery, byHeader, without] = [
    matcher(namesIn(tools, 'tools')),
    matcher(namesIn(own, 'X-MCP-Tools')),
    matcher(namesIn(excluded, 'X-MCP-Exclude-Tools'))
  ]
  const isOfServer =
    servers &&
    ((item: Narrowed): boolean =>
      servers.includes('all') || (item.upstream !== undefined && servers.includes(item.upstream)))
  const onlyReading = isSet(readonly) || isSet(reading)
  if (
    byQuery === undefined &&
    byHeader === undefined &&
    without === undefined &&
    isOfServer === undefined &&
    !onlyReading
  ) { return undefined }
  const decided = new WeakMap<Narrowed, boolean>()
  const names = (item: Narrowed): boolean =>
    (byQuery?.(item) ?? true) &&
    // The two headers add up, as they do where they come from.
    ((byHeader === undefined && isOfServer === undefined) ||
      byHeader?.(item) === true ||
      isOfServer?.(item) === true) &&
    (!onlyReading || isReadOnly(item))
  const keepsTool = (item: Narrowed): boolean =>
    without?.(item) !== true && (item.ofSearch === true || item.hasWholeResults === true || names(item))
  return {
    keeps: (kind, item) => {
      if (kind !== 'tools') return isOfServer?.(item) ?? true
      let keeps = decided.get(item)
      if (keeps === undefined) decided.set(item, (keeps = keepsTool(item)))
      return keeps
    }
  }
}

/** The names of a list; undefined where it is absent or empty. */
function namesIn (text: string | undefined, where: string): string[] | undefined {
  const given = (text ?? '').split(',').map(name => name.trim().replace(/\*+/g, '*')).filter(name => name !== '')
  const names = [...new Set(given)]
  const patterns = names.filter(isPattern)
  if (
    names.length > MAX_NAMES ||
    patterns.length > MAX_PATTERNS ||
    patterns.some(({ length }) => length > MAX_PATTERN)
  ) { throw httpErrors.narrowingTooLong(where, MAX_NAMES, MAX_PATTERNS, MAX_PATTERN) }
  return names.length === 0 ? undefined : names
}

function matcher (names: string[] | undefined): ((item: Narrowed) => boolean) | undefined {
  if (names === undefined) return undefined
  const [exact, matchers] = [new Set(names), names.filter(isPattern).map(matcherOf)]
  const fits = (name: string | undefined): boolean =>
    name !== undefined && (exact.has(name) || matchers.some(matches => matches(name)))
  return ({ name, accessName, scopeNames = [] }) =>
    fits(name) ||
    (accessName !== name && fits(accessName)) ||
    scopeNames.some(each => each !== name && each !== accessName && fits(each))
}

/** A `?` is none here: with many of them, each name would be compared at each of its characters. */
const isPattern = (name: string): boolean => name.includes('*') && !name.includes('?')

/** True for a flag that is there, unless its value denies it. */
const isSet = (value: string | undefined): boolean => value !== undefined && !/^(false|0|no|off)$/i.test(value.trim())

const isReadOnly = ({ listed: { annotations } = {} }: Narrowed): boolean =>
  isObject(annotations) && annotations.readOnlyHint === true
