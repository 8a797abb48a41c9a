import { createHash } from 'node:crypto'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Rule } from '../../../protocol/rules/rule.js'
import { shortName, type Identity } from '../../../protocol/wire/identity.js'
import { canonicalJson, isObject } from '../../../protocol/wire/json.js'
import { argumentsOf } from './things.js'

/** A call that a person has to allow first, as it is shown and as it is told apart from others. */
export interface Proposal {
  /** The digest of everything that an approval is bound to: caller, thing, arguments, view and rules. */
  readonly digest: string
  /** The caller, by which proposals are counted. */
  readonly owner: string
  readonly caller: string
  /** The view in which the call is made. */
  readonly view?: string
  readonly method: string
  /** The canonical name of the thing. */
  readonly name: string
  /** The arguments as the thing gets them, `***` for values that an operator fixed; as sent where it refuses them. */
  readonly arguments: unknown
  /** The names of the arguments that an operator fixed. */
  readonly fixed?: readonly string[]
  /** The form of a question that the call asks, for an operator to answer in place of its client. */
  readonly form?: Form
  readonly rule: string
  readonly message: string | undefined
  readonly by: 'caller' | 'operator'
  /** For how many milliseconds an answer is waited for, and a refusal stays. */
  readonly wait: number
}

/** A question to a user, and the schema of its answer. */
export interface Form { readonly message: string, readonly requestedSchema: object }

const WAIT = 120_000
/** A fixed value may be a secret, and is hidden wherever arguments are shown. */
const HIDDEN = '***'
/** Marks the fixed values: any text could also be one that the caller sent. */
const FIXED = Object.freeze({})

/** Describes a call that a rule asks about; `version` is that of all rules. */
export function proposalOf (call: Call, label: string, rule: Rule, version: string): Proposal {
  const { target, identity, method, params, peer: { view } } = call
  const { principal, address = LOCAL } = identity
  const { kind = 'tools', item = {}, key = '' } = target?.ruled ?? {}
  const { tool, resource, prompt }: Record<string, string | undefined> = { ...target?.auditSubject }
  const name = tool ?? prompt ?? resource ?? key
  const own = argumentsOf(kind, item, call) ?? null
  const given = kind === 'resources' ? own : isObject(params.arguments) ? params.arguments : {}
  const { by = 'caller', wait = WAIT, message } = rule
  const who = [principal ?? null, principal === undefined ? address : null, view ?? null]
  const bound = [...who, method, kind, name, given, own, label, version]
  const marked = argumentsOf(kind, item, call, FIXED) ?? given ?? {}
  const fixed = Object.keys(marked).filter(name => marked[name] === FIXED)
  return {
    digest: digestOf(canonicalJson(bound)),
    owner: ownerOf(identity),
    caller: principal === undefined ? callerOf(identity) : shortName(principal),
    ...(view !== undefined && { view }),
    method,
    name,
    arguments: { ...marked, ...Object.fromEntries(fixed.map(name => [name, HIDDEN])) },
    ...(fixed.length > 0 && { fixed }),
    rule: label,
    message,
    by,
    wait
  }
}

/** The version of rules: another one where anything in them is another. */
export const versionOf = (rules: unknown): string => digestOf(canonicalJson(rules))

/** Tells a caller apart from others, as the owner of its proposals. */
export const ownerOf = (identity: Identity): string => digestOf(callerOf(identity)).slice(0, 16)

/** The address of a caller that came over no network. */
const LOCAL = 'local'

const callerOf = ({ principal, address = LOCAL }: Identity): string => principal ?? `anonymous ${address}`

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
