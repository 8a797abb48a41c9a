import fp from 'fastify-plugin'
import { Listeners } from '../../lib/listeners.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Ask } from '../../protocol/dispatch/pipeline.js'
import type { Ruled, Via } from '../../protocol/dispatch/target.js'
import { decide, decider, strictest, type RulesOfThing, type Verdict } from '../../protocol/rules/caller-rules.js'
import type { Rule, RulesDefault } from '../../protocol/rules/rule.js'
import type { StandIn } from '../../protocol/questions/stand-in.js'
import { RuleSet } from '../../protocol/rules/rule-set.js'
import { text } from '../../protocol/wire/content.js'
import { errors } from '../../protocol/wire/errors.js'
import type { Identity } from '../../protocol/wire/identity.js'
import type { Kind, MayWatch, Scoped } from '../core/scopes.js'
import { ownerOf, proposalOf, versionOf, type Proposal } from './rules/proposal.js'
import { changedFor } from './rules/changes.js'
import { argumentsOf, thingOf, uriOf } from './rules/things.js'

declare module '../core/mcp.js' {
  interface Mcp {
    rules: {
      /** Decides by these rules from now on; clients whose lists change by that are notified. */
      replace: (options: RulesOptions) => void
      /** Is called with the names of the claims that rules look at, now and whenever these change. */
      onClaims: (listener: (names: readonly string[]) => void) => void
      /** Describes a call that a rule asks about, for the person who is asked. */
      proposalOf: (call: Call) => Proposal
      /** Tells a caller apart from others, as the owner of its proposals. */
      ownerOf: (identity: Identity) => string
      /** Sets what asks a person about a call before it runs. */
      askWith: (ask: Ask) => void
      /** Sets what has an operator answer questions of a call in place of its client. */
      answerWith: (answer: AnswerForClient) => void
      /** Decides about a thing for the callers of a view, whatever the arguments are. */
      of: (identity: Identity, view: string | undefined, kind: Kind, key: string, item: Scoped) => RulesOfThing
    }
  }
}

/** Has an operator answer a form; `proposal` describes the call that asks. */
type AnswerForClient = (call: Call, proposal: Proposal, ...question: Parameters<StandIn>) => ReturnType<StandIn>

export interface RulesOptions {
  rules: readonly Rule[]
  rulesDefault: RulesDefault
}

/** The methods whose requests have arguments that rules decide by. */
const DECIDED = new Set(['tools/call', 'prompts/get', 'resources/read', 'resources/subscribe'])
const NOT_ALLOWED = 'this call is not allowed with these arguments'
const LISTS = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed'
} as const

/** Allows and denies what callers do, by the rules of the operator: in lists, calls, and wherever names are found. */
export default fp(async ({ mcp }, options: RulesOptions) => {
  const { dispatcher, scopes } = mcp
  const claimListeners: Array<(names: readonly string[]) => void> = []
  const changes = Object.fromEntries(
    Object.keys(LISTS).map(kind => [kind, new Listeners<[mayKnow: MayKnow]>(dispatcher.observers.reporter('rules'))])
  ) as Record<Kind, Listeners<[mayKnow: MayKnow]>>
  let set = new RuleSet([], 'allow')
  let version = ''
  let answer: AnswerForClient | undefined
  let ask: Ask = async () => { throw errors.notAllowed('nothing here can ask for the approval that a rule demands') }

  mcp.provide('rules', {
    replace: next => {
      const former = set
      take(next)
      for (const kind of Object.keys(LISTS) as Kind[]) changes[kind].notify(changedFor(mcp, kind, former, set))
    },
    onClaims: listener => {
      claimListeners.push(listener)
      listener(set.claims)
    },
    askWith: next => { ask = next },
    answerWith: next => { answer = next },
    ownerOf,
    proposalOf: call => proposalOf(call, call.ruled?.rule ?? '', call.ruled?.asks ?? {}, version),
    of: (identity, view, kind, key, item) => rulesOf(set, identity, view, { kind, key, item })
  })
  for (const [kind, method] of Object.entries(LISTS)) {
    mcp.announce({ onChange: listener => changes[kind as Kind].add(listener) }, method, () => true)
  }
  // The scopes of a caller may have changed, which rules look at.
  scopes.onChange(() => { set = set.renewed() })
  take(options)

  function take ({ rules, rulesDefault }: RulesOptions): void {
    set = new RuleSet(rules, rulesDefault)
    const isShown = set.asks || rules.some(({ questions }) => questions !== undefined)
    version = isShown ? versionOf([rules, rulesDefault]) : ''
    const isNone = rules.length === 0 && rulesDefault === 'allow'
    dispatcher.judgeWith(isNone ? undefined : judge, async (call, run) => await ask(call, run))
    if (isNone) scopes.hideWith(undefined)
    else {
      scopes.hideWith((identity, view, kind, key, item, uri) => {
        const found = rulesOf(set, identity, view, { kind, key, item }, uri)
        return found.isShown ? undefined : decider(found.last)
      }, (...watched) => mayWatch(set, ...watched))
    }
    for (const listener of claimListeners) listener(set.claims)
  }

  function judge (call: Call): object | undefined {
    const { ruled, via } = call.target ?? {}
    if (ruled === undefined || !DECIDED.has(call.method)) return undefined
    const verdict = verdictOf(set, call, ruled, via)
    if (verdict.effect === 'deny' || verdict.rule !== undefined) call.ruled = ruledBy(call, verdict, version, answer)
    if (verdict.effect !== 'deny') return undefined
    call.denied = true
    return refuse(call, verdict.rule?.source.message ?? NOT_ALLOWED)
  }
}, {
  name: 'patchbay-rules',
  dependencies: ['patchbay-mcp', 'patchbay-prompts', 'patchbay-resources', 'patchbay-scopes', 'patchbay-subscriptions', 'patchbay-tools', 'patchbay-views']
})

/** The strictest verdict about a thing and the tools by which it is used. */
function verdictOf (set: RuleSet, call: Call, ruled: Ruled, via: readonly Via[] = []): Verdict {
  const { identity, peer: { view } } = call
  const { kind, item } = ruled
  const rules = rulesOf(set, identity, view, ruled, kind === 'resources' ? uriOf(call) : undefined)
  const own = decide(rules, rules.steps.length === 0 ? undefined : argumentsOf(kind, item, call))
  return via.reduce((verdict, tool) => {
    return strictest(verdict, decide(rulesOf(set, identity, view, tool), tool.arguments))
  }, own)
}

function mayWatch (set: RuleSet, ...[identity, view, item, uri]: Parameters<MayWatch>): boolean {
  const rules = rulesOf(set, identity, view, { kind: 'resources', key: item.uri, item }, uri)
  return decide(rules, { uri }).effect === 'allow'
}

function rulesOf (
  set: RuleSet,
  identity: Identity,
  view: string | undefined,
  { kind, key, item }: Ruled,
  uri?: string
): RulesOfThing {
  const rules = set.of(identity, view)
  const isOwn = uri === undefined || (!isBehindTemplate(item) && isItsOwn(uri, key, item))
  return isOwn ? rules.ofItem(item, () => thingOf(kind, key, item)) : rules.of(thingOf(kind, key, item, uri))
}

function ruledBy (
  call: Call,
  verdict: Verdict,
  version: string,
  answer: AnswerForClient | undefined
): Call['ruled'] {
  const { effect, rule: { source } = {} } = verdict
  const label = decider(verdict)
  const questions: StandIn | undefined = source?.questions === undefined || answer === undefined
    ? undefined
    : async (form, signal) => await answer(call, proposalOf(call, label, source, version), form, signal)
  return {
    rule: label,
    ...(effect === 'ask' && source !== undefined && { asks: source }),
    ...(questions !== undefined && { questions })
  }
}

type MayKnow = ReturnType<typeof changedFor>

/** The result of a tool that a model can read, or a JSON-RPC error where there is no such result. */
function refuse ({ method }: Call, why: string): object {
  if (method === 'tools/call') return { content: [text(why)], isError: true }
  throw errors.notAllowed(why)
}

/** False for a file of a skill, which is found with the resource of its SKILL.md. */
function isItsOwn (uri: string, key: string, item: object): boolean {
  const { spellings, scopeNames }: { spellings?: readonly string[], scopeNames?: readonly string[] } = item
  return uri === key || spellings?.includes(uri) === true || scopeNames?.includes(uri) === true
}

const isBehindTemplate = (item: object): boolean => {
  const { template, guessed }: { template?: unknown, guessed?: unknown } = item
  return template !== undefined || guessed === true
}
