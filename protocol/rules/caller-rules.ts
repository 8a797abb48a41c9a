import { isObject } from '../wire/json.js'
import type { Params } from '../wire/jsonrpc.js'
import type { CompiledRule } from './compiled-rule.js'
import type { Effect, RulesDefault } from './rule.js'
import { all, any, type Truth } from './three-valued.js'

/** A tool, prompt or resource, as rules see it. */
export interface Thing {
  /** Its canonical names: a rule that fits one of them is about it. */
  readonly names: readonly string[]
  /** The hints of a tool. */
  readonly annotations?: unknown
  /** The URIs that a server may take the one of a request for, behind a template; the first is as it was sent. */
  readonly spellings?: { readonly strict: readonly string[], readonly all: readonly string[] }
}

/** A decision, and the rule that made it; undefined where none matched. */
export interface Verdict { readonly effect: Effect, readonly rule: CompiledRule | undefined }

/** The rules that are left for one thing: those that arguments decide, and the one that decides then. */
export interface RulesOfThing {
  readonly steps: ReadonlyArray<{ readonly rule: CompiledRule, readonly isDoubtful: boolean }>
  readonly last: Verdict
  /** False where no arguments open it: it does not exist for the caller. */
  readonly isShown: boolean
}

/** The name of the decision about what no rule matches. */
const DEFAULT = 'rulesDefault'

/** The label of what decided. */
export const decider = ({ rule }: Verdict): string => rule?.label ?? DEFAULT

/** The rules for callers of one kind, with what is left of them for each thing. */
export class CallerRules {
  readonly #rules: ReadonlyArray<{ rule: CompiledRule, truth: Truth }>
  readonly #default: Verdict
  readonly #known = new WeakMap<object, RulesOfThing>()

  constructor (rules: ReadonlyArray<{ rule: CompiledRule, truth: Truth }>, fallback: RulesDefault) {
    this.#rules = rules.filter(({ rule: { effect }, truth }) => matches(effect, truth))
    this.#default = { effect: fallback, rule: undefined }
  }

  /** Remembered for an item, whose names and hints do not change. */
  ofItem (item: object, read: () => Thing): RulesOfThing {
    const known = this.#known.get(item)
    if (known !== undefined) return known
    const rules = this.of(read())
    this.#known.set(item, rules)
    return rules
  }

  of (thing: Thing): RulesOfThing {
    const steps: Array<{ rule: CompiledRule, isDoubtful: boolean }> = []
    for (const { rule, truth } of this.#rules) {
      const named = isAbout(rule, thing)
      if (!matches(rule.effect, named) || !fitsHints(rule, thing)) continue
      const isDoubtful = rule.effect === 'ask' && (truth === undefined || named === undefined)
      if (rule.where === undefined && !isDoubtful) return left(steps, { effect: rule.effect, rule })
      steps.push({ rule, isDoubtful })
    }
    return left(steps, this.#default)
  }
}

/** Decides by arguments: a doubtful match opens nothing, closes a `deny`, and lets an `ask` ask if nothing denies. */
export function decide ({ steps, last }: RulesOfThing, args: Params | undefined): Verdict {
  let asked: CompiledRule | undefined
  for (const { rule, isDoubtful } of steps) {
    const fits = rule.where === undefined ? true : rule.where(args)
    if (!matches(rule.effect, fits)) continue
    if (rule.effect === 'ask' && (isDoubtful || fits === undefined)) asked = stricter(asked, rule)
    else return settle({ effect: rule.effect, rule }, asked)
  }
  return settle(last, asked)
}

/** The verdict that lets less pass: that about a tool, or that about the tool by which it is called. */
export function strictest (one: Verdict, other: Verdict): Verdict {
  if (one.effect === 'deny' || other.effect === 'allow') return one
  if (one.effect === 'allow' || other.effect === 'deny') return other
  if (one.rule === undefined || other.rule === undefined) return one
  return stricter(one.rule, other.rule) === other.rule ? other : one
}

const matches = (effect: Effect, truth: Truth): boolean => truth ?? effect !== 'allow'

function settle (verdict: Verdict, asked: CompiledRule | undefined): Verdict {
  if (asked === undefined || verdict.effect === 'deny') return verdict
  return { effect: 'ask', rule: verdict.rule?.effect === 'ask' ? stricter(asked, verdict.rule) : asked }
}

/** An operator is asked rather than the caller itself. */
const stricter = (first: CompiledRule | undefined, second: CompiledRule): CompiledRule =>
  first === undefined || (first.source.by !== 'operator' && second.source.by === 'operator') ? second : first

function left (steps: RulesOfThing['steps'], last: Verdict): RulesOfThing {
  const opens = steps.some(({ rule: { effect }, isDoubtful }) => effect !== 'deny' && !isDoubtful)
  return { steps, last, isShown: last.effect !== 'deny' || opens }
}

/** True for a thing that the globs of a rule name, open where only some spellings of its URI fit. */
export function isAbout (rule: CompiledRule, { names, spellings }: Thing): Truth {
  if (names.some(rule.names)) return true
  if (spellings === undefined) return false
  if (all(spellings.strict, rule.names) === true) return true
  return any(spellings.all, rule.namesLoosely) === true ? undefined : false
}

/** Hints come from servers, so a missing one is taken for the worse, as the specification says. */
function fitsHints ({ source: { hints } }: CompiledRule, { annotations }: Thing): boolean {
  if (hints === undefined) return true
  const { readOnlyHint, destructiveHint, openWorldHint } = isObject(annotations) ? annotations : {}
  const isReadOnly = readOnlyHint === true
  return (hints.readOnly === undefined || !isReadOnly) &&
    (hints.destructive === undefined || (!isReadOnly && destructiveHint !== false)) &&
    (hints.openWorld === undefined || openWorldHint !== false)
}
