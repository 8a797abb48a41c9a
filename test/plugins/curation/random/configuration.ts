import type { ToolOverride, ToolOverrides } from '../../../../protocol/definitions/overrides/override.js'
import type { ViewDefinition } from '../../../../plugins/curation/views/selection.js'
import type { Condition, Rule, RulesDefault } from '../../../../protocol/rules/rule.js'

export type Kind = 'tools' | 'prompts' | 'resources'

/** A thing of the gateway or, with an upstream, of a server: `canonical` is its name for operators. */
export interface Item {
  readonly kind: Kind
  readonly canonical: string
  readonly own: string
  readonly upstream: string | undefined
  readonly readOnly: unknown
  readonly scopes: string[] | undefined
}

/** The narrowing of a request: the query `tools`, the three headers with lists, and both ways to say read-only. */
export interface Narrow {
  readonly query?: string[]
  readonly tools?: string[]
  readonly exclude?: string[]
  readonly toolsets?: string[]
  readonly readonly?: boolean
}

/** Everything that decides what one caller sees. */
export interface Configuration {
  readonly items: Item[]
  /** The view that the caller is on; undefined for the whole gateway. */
  readonly view: ViewDefinition | undefined
  /** The option `scopes`. */
  readonly operator: Record<string, string[]>
  readonly granted: string[]
  readonly narrow: Narrow
  /** The options `rules` and `rulesDefault`, and the claims of the caller. */
  readonly rules: Rule[]
  readonly rulesDefault: RulesDefault
  readonly claims: Record<string, unknown>
  /** True over HTTP, where a missing scope is told. */
  readonly hasStatus: boolean
}

/** A whole number below this one. */
export type Random = (below: number) => number

const ALIASES = ['one', 'two', 'three']
// The last is the long name of another.
const NAMES = ['search', 'delete_all', 'read', 'find', 'one__read']
/** Names that overrides give: those of others, and new ones. */
export const NEW_NAMES = ['search', 'one__read', 'two__find', 'lookup', 'erase']
const ARGUMENTS: NonNullable<ToolOverride['arguments']>[] = [
  { index: { value: 'fixed' } },
  { index: { name: 'where', default: 'filled' } }
]
const SCOPES = ['mcp', 'a', 'b']
const PATTERNS = [
  '*',
  'one__*',
  '*__delete_*',
  'two__read',
  '*search',
  'find',
  't?o__*',
  '*e*',
  'nothing',
  'three__*d',
  'own:*',
  'one+*',
  'two+two:find',
  '*+*:read'
]

/** Numbers that look random, and are the same for the same seed. */
export function randomOf (seed: number): Random {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The configuration of a seed. */
export function configurationOf (seed: number): Configuration {
  const random = randomOf(seed)
  const items = (['tools', 'prompts', 'resources'] as const).flatMap(kind => randomItems(kind, random))
  return {
    items,
    view: random(6) === 0 ? undefined : randomView(random),
    operator: Object.fromEntries(
      items
        .filter(() => random(6) === 0)
        .map(({ kind, canonical }) => [`${kind}/${canonical}`, some(SCOPES, random, 2)])
    ),
    granted: random(10) === 0 ? ['admin'] : [...new Set(some([...SCOPES, 'mcp', 'mcp'], random, 2))],
    narrow: random(2) === 0 ? {} : randomNarrow(random),
    hasStatus: random(2) === 0,
    ...randomRules(random)
  }
}

/** Half of all configurations have no rules. */
function randomRules (random: Random): Pick<Configuration, 'rules' | 'rulesDefault' | 'claims'> {
  const claims = { team: ['red', ['red', 'blue'], null, { of: 'red' }, 7][random(5)] }
  if (random(2) === 0) return { rules: [], rulesDefault: 'allow', claims }
  const rules = Array.from({ length: random(5) }, () => randomRule(random))
  return { rules, rulesDefault: random(3) === 0 ? 'deny' : 'allow', claims }
}

function randomRule (random: Random): Rule {
  const globs = some(PATTERNS.filter(pattern => !pattern.includes('?')), random)
  const isDeny = random(2) === 0
  return {
    [isDeny ? 'deny' : 'allow']: globs.length === 0 ? ['one__*'] : globs,
    ...(random(2) === 0 && { for: randomCondition(random, 3) }),
    ...(random(3) === 0 && { where: { index: RULED[random(RULED.length)] ?? null } }),
    ...(isDeny && random(6) === 0 && { deny: ['one__*', 'two__*'], hints: { readOnly: false as const } })
  }
}

const RULED = ['fixed', { in: ['f*'] }, { not: 'fixed' }, { max: 3 }, null]

function randomCondition (random: Random, depth: number): Condition {
  return {
    ...(random(3) === 0 && { principal: [['ada'], ['a*', 'bob'], ['bob']][random(3)] ?? [] }),
    ...(random(3) === 0 && { scope: ['a', 'b', 'admin'][random(3)] ?? '' }),
    ...(random(3) === 0 && { claim: { team: ['red', 'b*'][random(2)] ?? '' } }),
    ...(random(4) === 0 && { view: ['s*', 'other'][random(2)] ?? '' }),
    ...(depth > 0 && random(3) === 0 && { not: randomCondition(random, depth - 1) })
  }
}

function randomItems (kind: Kind, random: Random): Item[] {
  const all = [undefined, ...ALIASES].flatMap(upstream => NAMES.map(own => ({ kind, own, upstream })))
  return all
    .filter(({ own, upstream }) => upstream !== undefined || !own.startsWith('one__'))
    .filter(() => random(kind === 'tools' ? 2 : 3) === 0)
    .map(item => ({
      ...item,
      canonical: canonicalOf(item),
      readOnly: [true, false, undefined, 'true'][random(4)],
      scopes: random(3) === 0 ? some(SCOPES, random) : undefined
    }))
}

function canonicalOf ({ kind, own, upstream }: Pick<Item, 'kind' | 'own' | 'upstream'>): string {
  if (kind === 'resources') return upstream === undefined ? `own:${own}` : `${upstream}+${upstream}:${own}`
  return upstream === undefined ? own : `${upstream}__${own}`
}

function randomView (random: Random): ViewDefinition {
  return {
    ...(random(2) === 0 && { servers: some([...ALIASES, 't*'], random) }),
    ...(random(2) === 0 && { tools: some(PATTERNS, random) }),
    ...(random(3) === 0 && { prompts: some(PATTERNS, random) }),
    ...(random(3) === 0 && { resources: some(PATTERNS, random) }),
    ...(random(2) === 0 && { exclude: some(PATTERNS, random, 6) }),
    ...(random(3) === 0 && { readOnly: true }),
    ...(random(2) === 0 && { names: 'short' as const }),
    ...(random(3) === 0 && { scopes: some(SCOPES, random) }),
    ...(random(2) === 0 && { override: randomOverrides(random) })
  }
}

/** Overrides of some tools: a new name, another hint, an argument that callers do not see or call otherwise. */
function randomOverrides (random: Random): ToolOverrides {
  const tools = [undefined, ...ALIASES].flatMap(upstream =>
    NAMES.map(own => canonicalOf({ kind: 'tools', own, upstream })))
  return Object.fromEntries(some([...tools, 'nothing'], random).map(canonical => [canonical, {
    ...(random(2) === 0 && { name: NEW_NAMES[random(NEW_NAMES.length)] ?? '' }),
    ...(random(3) === 0 && { annotations: { readOnlyHint: random(2) === 0 } }),
    ...(random(2) === 0 && { arguments: ARGUMENTS[random(ARGUMENTS.length)] ?? {} })
  }]))
}

function randomNarrow (random: Random): Narrow {
  return {
    ...(random(3) === 0 && { query: some([...PATTERNS, ...NAMES], random) }),
    ...(random(3) === 0 && { tools: some([...PATTERNS, ...NAMES], random) }),
    ...(random(3) === 0 && { exclude: some([...PATTERNS, ...NAMES], random, 8) }),
    ...(random(3) === 0 && { toolsets: some([...ALIASES, 'all'], random) }),
    ...(random(4) === 0 && { readonly: random(2) === 0 })
  }
}

/** One in so many of them. */
function some<T> (all: readonly T[], random: Random, one = 4): T[] {
  return all.filter(() => random(one) === 0)
}
