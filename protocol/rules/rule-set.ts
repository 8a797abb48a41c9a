import type { Identity } from '../wire/identity.js'
import { claimsIn, type CallerFacts } from './caller.js'
import { CallerRules } from './caller-rules.js'
import { compileRule, type CompiledRule } from './compiled-rule.js'
import type { Rule, RulesDefault } from './rule.js'

/** How many kinds of callers are remembered. */
const MAX_CALLERS = 1_000

/** The rules of an operator, compiled once. The first that matches decides. */
export class RuleSet {
  readonly rules: readonly CompiledRule[]
  readonly #sources: readonly Rule[]
  readonly #default: RulesDefault
  readonly #needsView: boolean
  /** The rules of each caller, by its view. */
  readonly #known = new WeakMap<Identity, Map<string, CallerRules>>()
  /** By how the conditions of the rules turn out. */
  readonly #kinds = new Map<string, CallerRules>()
  /** The names of the claims that rules look at. */
  readonly claims: readonly string[]
  /** True when a rule asks a person. */
  readonly asks: boolean

  /** The rules must have none of the mistakes that `mistakesInRules` finds. */
  constructor (rules: readonly Rule[], fallback: RulesDefault) {
    this.#sources = rules
    this.rules = rules.map(compileRule)
    this.#default = fallback
    this.claims = [...new Set(rules.flatMap(({ for: condition = {} }) => claimsIn(condition)))]
    this.asks = this.rules.some(({ effect }) => effect === 'ask')
    this.#needsView = rules.some(({ for: condition }) => condition !== undefined && JSON.stringify(condition).includes('"view"'))
  }

  /** Makes a set of the same rules that remembers nothing of callers. */
  renewed (): RuleSet {
    return new RuleSet(this.#sources, this.#default)
  }

  /** The rules that can match a caller in a view. */
  of (identity: Identity, view: string | undefined): CallerRules {
    const key = this.#needsView ? view ?? '' : ''
    const known = this.#known.get(identity)
    const found = known?.get(key)
    if (found !== undefined) return found
    const rules = this.#kindOf({ identity, view })
    if (known === undefined) this.#known.set(identity, new Map([[key, rules]]))
    else if (known.size < MAX_CALLERS) known.set(key, rules)
    return rules
  }

  #kindOf (facts: CallerFacts): CallerRules {
    const truths = this.rules.map(({ condition }) => condition === undefined ? true : condition(facts))
    const key = truths.map(truth => truth === undefined ? '?' : truth ? '1' : '0').join('')
    const known = this.#kinds.get(key)
    if (known !== undefined) return known
    if (this.#kinds.size >= MAX_CALLERS) this.#kinds.clear()
    const rules = new CallerRules(this.rules.map((rule, index) => ({ rule, truth: truths[index] })), this.#default)
    this.#kinds.set(key, rules)
    return rules
  }
}
