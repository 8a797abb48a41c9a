import type { Params } from '../wire/jsonrpc.js'
import { decide, decider, isAbout, type RulesOfThing, type Thing } from './caller-rules.js'
import type { CallerFacts } from './caller.js'
import type { CompiledRule } from './compiled-rule.js'
import type { RuleSet } from './rule-set.js'

/** The decision about a call: the rule that decides, and what each of them says up to it. */
export interface Explanation {
  readonly effect: string
  readonly decider: string
  readonly message: string | undefined
  /** False where it does not exist for the caller, whatever the arguments are. */
  readonly isShown: boolean
  readonly steps: ReadonlyArray<{ readonly rule: string, readonly effect: string, readonly why: string }>
}

/** Explains a decision rule by rule. Without arguments, those of the call are taken as missing. */
export function explain (set: RuleSet, facts: CallerFacts, thing: Thing, args: Params | undefined): Explanation {
  const rules: RulesOfThing = set.of(facts.identity, facts.view).of(thing)
  const verdict = decide(rules, args)
  const reached = verdict.rule === undefined ? set.rules : set.rules.slice(0, set.rules.indexOf(verdict.rule) + 1)
  return {
    effect: verdict.effect,
    decider: decider(verdict),
    message: verdict.rule?.source.message,
    isShown: rules.isShown,
    steps: reached.map(rule => ({ rule: rule.label, effect: rule.effect, why: reasonOf(rule, facts, thing, args) }))
  }
}

function reasonOf (rule: CompiledRule, facts: CallerFacts, thing: Thing, args: Params | undefined): string {
  const closes = rule.effect === 'allow' ? 'so it opens nothing' : 'so it counts as a match'
  if (isAbout(rule, thing) === false) return 'is about other names'
  const caller = rule.condition === undefined ? true : rule.condition(facts)
  if (caller === false) return 'is for other callers'
  if (caller === undefined) return `looks at a claim that is not known or odd, ${closes}`
  const fits = rule.where === undefined ? true : rule.where(args)
  if (fits === false) return 'is about other arguments'
  if (fits === undefined) return `looks at an argument that is missing or odd, ${closes}`
  return rule.source.hints === undefined ? 'matches' : 'matches where the hints of the tool do not say otherwise'
}
