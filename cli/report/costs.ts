import type { FastifyInstance } from 'fastify'
import { isObject } from '../../protocol/wire/json.js'
import { wrap, wrapWords } from './wrap.js'

type Costs = FastifyInstance['mcp']['costs']
export type ViewCost = Awaited<ReturnType<Costs['ofViews']>>[number]
export type ToolCost = NonNullable<Awaited<ReturnType<Costs['ofTools']>>>[number]

/** The costs of the definitions that clients load. */
export interface CostReport {
  readonly views: readonly ViewCost[]
  /** The tools of everything that cost most. */
  readonly largest: readonly ToolCost[]
  /** The servers whose lists are not known, by alias. */
  readonly unknown: readonly string[]
}

/** How many of the largest tools are named. */
const LARGEST = 5

/** The text that says how tokens are counted. */
export const ESTIMATE = 'an estimate: characters / 4'

/** Reads the costs of a gateway, as far as the lists of its servers are known. Some servers are left out by alias. */
export async function readCosts (
  { mcp: { costs, upstreams } }: FastifyInstance,
  isLeftOut: (alias: string) => boolean
): Promise<CostReport> {
  const tools = (await costs.ofTools(undefined)) ?? []
  return {
    views: (await costs.ofViews()).filter(({ kind, name = '' }) => kind !== 'server' || !isLeftOut(name)),
    largest: [...tools].sort(byTokens).slice(0, LARGEST),
    unknown: upstreams
      .status()
      .filter(({ alias, state }) => state !== 'disabled' && !isLeftOut(alias) && !upstreams.hasLists(alias))
      .map(({ alias }) => alias)
  }
}

/** Puts the tools first that cost most. */
export const byTokens = (one: ToolCost, other: ToolCost): number => other.tokens - one.tokens

/** The lines of `--check` about costs. `prefix` stands before all paths. */
export function costLines ({ largest, unknown, ...costs }: CostReport, prefix: string): string[] {
  const views = costs.views.map(view => ({ ...view, path: `${prefix}${view.path}` }))
  const width = Math.max(...views.map(({ path }) => path.length))
  return [
    `  What a client loads, in tokens (${ESTIMATE}):`,
    ...views.map(cost => {
      const isUnknown = cost.kind === 'server' && unknown.includes(cost.name ?? '')
      return `    ${cost.path.padEnd(width)}  ${isUnknown ? 'not known yet' : describeCost(cost)}`
    }),
    ...(largest.length === 0
      ? []
      : wrap('largest', largest.map(({ name, tokens }) => `${name} ${tokens.toLocaleString('en')}`))),
    ...(unknown.length === 0 ? [] : wrapWords('not known', `${unknown.join(', ')}: ${UNKNOWN}`)),
    ...remarksOf(views).flatMap(remark => wrapWords('clients', remark))
  ]
}

/** The most operations of APIs that are printed. */
const MAX_OPERATIONS = 100

/**
 * The lines of `--check` about the operations of APIs: each with its tool, and the tokens of that. `unread` are the
 * APIs whose documents would have to be fetched.
 */
export async function operationLines (
  { mcp: { costs, tools } }: FastifyInstance,
  unread: readonly string[]
): Promise<string[]> {
  const tokens = new Map((await costs.ofTools(undefined))?.map(cost => [cost.name, cost.tokens]))
  const all = tools.names().flatMap(name => {
    const meta = tools.get(name)?.listed['_meta']
    const operation = isObject(meta) ? meta['patchbay/operation'] : undefined
    return typeof operation === 'string' ? [{ operation, name }] : []
  })
  if (all.length === 0 && unread.length === 0) return []
  const shown = all.slice(0, MAX_OPERATIONS)
  const width = Math.min(48, Math.max(...shown.map(({ operation }) => operation.length)))
  return [
    '',
    '  Operations of APIs, and their tools, in tokens:',
    ...shown.map(({ operation, name }) => `    ${operation.padEnd(width)}  ${name} ${tokens.get(name)?.toLocaleString('en') ?? ''}`.trimEnd()),
    ...(all.length > shown.length ? [`    and ${(all.length - shown.length).toLocaleString('en')} more; patchbay tools lists them`] : []),
    ...unread.map(alias => `    those of ${alias} are not known yet: its document is at a URL, and nothing is fetched here`)
  ]
}

const UNKNOWN = 'the lists were not read yet, and nothing is started here; patchbay views reads them'

/** How many tools, and their tokens. */
export const describeCost = ({ tools, tokens }: Pick<ViewCost, 'tools' | 'tokens'>): string =>
  `${countOf(tools, 'tool')}, about ${countOf(tokens, 'token')}`

/** A number of things, in words. */
export const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`

/** Each remark once, with the views that it is about. */
function remarksOf (views: readonly ViewCost[]): string[] {
  const about = new Map<string, string[]>()
  for (const { path, remarks } of views) {
    for (const remark of remarks) about.set(remark, [...about.get(remark) ?? [], path])
  }
  return [...about].map(([remark, paths]) => `${paths.join(', ')}: ${remark}`)
}
