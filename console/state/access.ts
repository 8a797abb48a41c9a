import { isObject, type Client, type Json } from '../client/contract.js'

/** A rule that has a say about a tool; the last one decides where none before it does. */
export interface RuleStep { readonly rule: string, readonly effect: string, readonly byArguments: boolean }

/** Rights of a caller on a tool, in a word of the gateway, and why, where it tells that. */
export interface CallerAccess { readonly use: string, readonly steps: readonly RuleStep[] }

/** Rights of an API key, which has a name, scopes and perhaps a view. */
export interface KeyAccess extends CallerAccess {
  readonly name: string
  readonly scopes: readonly string[]
  readonly view: string | undefined
}

/** Who may call a tool. Members besides `own` are for operators, and empty for others. */
export interface Access {
  readonly own: CallerAccess
  readonly scopes: readonly string[]
  readonly keys: readonly KeyAccess[]
  /** How many keys are not among them. */
  readonly more: number
}

/** Reads who may call a tool of the chosen view. */
export async function readAccess (client: Client, name: string): Promise<Access> {
  const { use, steps, scopes, keys, more } = await client.request('patchbay/access', { name })
  return {
    own: { use: String(use), steps: stepsOf(steps) },
    scopes: textsOf(scopes),
    keys: Array.isArray(keys) ? keys.flatMap(keyOf) : [],
    more: typeof more === 'number' ? more : 0
  }
}

const USES: Readonly<Record<string, string>> = {
  allowed: 'may call it',
  denied: 'may not call it, and does not see it',
  'asks its user': 'may call it when its own user says yes',
  'asks an operator': 'may call it when an operator says yes',
  'depends on arguments': 'may call it with some arguments',
  'needs scopes': 'may not call it, and does not see it: it lacks a scope',
  'not in its view': 'does not see it: it is not in its view',
  expired: 'may not call anything: it has expired'
}

/** Says what a caller may do, in words that go on after its name. */
export const useInWords = ({ use }: CallerAccess): string => USES[use] ?? use

/** The rules that say so, in their order, as a sentence. */
export function whyInWords ({ steps }: CallerAccess): string {
  const last = steps.at(-1)
  if (last === undefined) return ''
  const earlier = steps.slice(0, -1).map(({ rule, effect }) => `${rule} (${effect}) where the arguments say so`)
  return [...earlier, `${earlier.length > 0 ? 'else ' : ''}${last.rule} (${last.effect})`].join(', ')
}

export const toneOf = ({ use }: CallerAccess): string =>
  use === 'allowed' ? 'good' : ['denied', 'needs scopes', 'not in its view', 'expired'].includes(use) ? 'bad' : 'warn'

function keyOf (row: Json): KeyAccess[] {
  if (!isObject(row)) return []
  const { name, use, steps, scopes, view } = row
  return [{
    name: String(name),
    use: String(use),
    steps: stepsOf(steps),
    scopes: textsOf(scopes),
    view: typeof view === 'string' ? view : undefined
  }]
}

function stepsOf (steps: Json | undefined): RuleStep[] {
  if (!Array.isArray(steps)) return []
  return steps.flatMap(step => isObject(step)
    ? [{ rule: String(step.rule), effect: String(step.effect), byArguments: step.byArguments === true }]
    : [])
}

const textsOf = (list: Json | undefined): string[] => Array.isArray(list) ? list.map(String) : []
