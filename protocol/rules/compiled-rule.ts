import { matcherOf } from '../../lib/glob.js'
import type { Params } from '../wire/jsonrpc.js'
import { compileCondition, type CallerFacts } from './caller.js'
import { compileWhere } from './matcher.js'
import { effectOf, labelOf, type Effect, type Rule } from './rule.js'
import type { Truth } from './three-valued.js'

/** A rule that is ready to be compared. */
export interface CompiledRule {
  readonly label: string
  readonly effect: Effect
  readonly source: Rule
  /** True for names that fit one of its globs. */
  readonly names: (name: string) => boolean
  /** True for names that fit one of its globs but for the case of letters. */
  readonly namesLoosely: (name: string) => boolean
  readonly condition: ((facts: CallerFacts) => Truth) | undefined
  readonly where: ((args: Params | undefined) => Truth) | undefined
}

/** `index` is the place of the rule in the option. */
export function compileRule (source: Rule, index: number): CompiledRule {
  const { effect, globs } = effectOf(source)
  const exact = globs.map(matcherOf)
  const loose = globs.map(glob => matcherOf(glob.toLowerCase()))
  return {
    label: labelOf(source, index),
    effect,
    source,
    names: name => exact.some(fits => fits(name)),
    namesLoosely: name => loose.some(fits => fits(name.toLowerCase())),
    condition: source.for && compileCondition(source.for),
    where: source.where && compileWhere(source.where)
  }
}
