import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { canonicalName } from '../../protocol/definitions/common-members.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { decider, type RulesOfThing } from '../../protocol/rules/caller-rules.js'
import { errors } from '../../protocol/wire/errors.js'
import { ADMIN_SCOPE, grants, hasExpired, shortName, type Identity } from '../../protocol/wire/identity.js'
import type { Mcp } from '../core/mcp.js'

/** Rights of a caller on a tool, before its arguments are known. */
type Use =
  | 'allowed' | 'denied' | 'asks its user' | 'asks an operator' | 'depends on arguments' | 'needs scopes'
  | 'not in its view' | 'expired'

/** A rule that has a say, in their order; the last one decides where none before it does. */
interface Step { readonly rule: string, readonly effect: string, readonly byArguments?: true }

/** The most API keys that an answer names. */
const MAX_KEYS = 200
const Named = Type.Object({ name: Type.String({ maxLength: 1_024 }) })

/**
 * `patchbay/access` tells callers what they may do with a tool that they see. Operators also hear which scopes and
 * rules say so, and the same of each API key.
 */
export default fp(async ({ mcp }) => {
  const { scopes, views } = mcp

  mcp.method('patchbay/access', Named, async ({ name }, call) => {
    const { identity, peer: { view } } = call
    const tool = partOf(mcp, view)?.tools.get(name)
    if (tool === undefined || !scopes.allows(call, 'tools', tool.name, tool)) throw errors.unknownTool(name)
    const { use, steps } = accessOf(identity, view, tool)
    if (!grants(identity, [ADMIN_SCOPE])) return { use }
    const canonical = canonicalName(tool)
    const keys = 'identities' in mcp ? mcp.identities.ofKeys() : []
    return {
      use,
      canonical,
      scopes: scopes.target('tools', tool.name, tool).scopes,
      steps,
      keys: keys.slice(0, MAX_KEYS).map(key => ofKey(key, canonical)),
      ...(keys.length > MAX_KEYS && { more: keys.length - MAX_KEYS })
    }
  })

  /** Whatever the view of an operator is, a key is told of the tool in its own. */
  function ofKey (key: Identity, canonical: string): object {
    const about = {
      name: shortName(key.principal ?? ''),
      scopes: key.scopes === 'all' ? ['*'] : [...key.scopes],
      ...(key.view !== undefined && { view: key.view })
    }
    if (hasExpired(key)) return { ...about, use: 'expired' satisfies Use, steps: [] }
    const tools = partOf(mcp, key.view)?.tools
    const tool = key.view === undefined
      ? tools?.get(canonical)
      : [...tools?.source.values() ?? []].find(each => canonicalName(each) === canonical)
    if (tool === undefined) return { ...about, use: 'not in its view' satisfies Use, steps: [] }
    return { ...about, ...accessOf(key, key.view, tool) }
  }

  function accessOf (identity: Identity, view: string | undefined, tool: Tool): { use: Use, steps: Step[] } {
    if (!grants(identity, scopes.target('tools', tool.name, tool).scopes)) return { use: 'needs scopes', steps: [] }
    const found = mcp.rules.of(identity, view, 'tools', tool.name, tool)
    return { use: useOf(found), steps: stepsOf(found) }
  }

  function partOf (mcp: Mcp, view: string | undefined): Pick<Mcp, 'tools'> | undefined {
    return view === undefined ? mcp : views.get(view) as Pick<Mcp, 'tools'> | undefined
  }
}, {
  name: 'patchbay-access',
  dependencies: ['patchbay-mcp', 'patchbay-rules', 'patchbay-scopes', 'patchbay-tools', 'patchbay-views']
})

function useOf ({ steps, last, isShown }: RulesOfThing): Use {
  if (!isShown) return 'denied'
  if (steps.some(({ rule }) => rule.effect !== last.effect)) return 'depends on arguments'
  if (last.effect !== 'ask') return 'allowed'
  return last.rule?.source.by === 'operator' ? 'asks an operator' : 'asks its user'
}

const stepsOf = ({ steps, last }: RulesOfThing): Step[] => [
  ...steps.map(({ rule }) => ({ rule: rule.label, effect: rule.effect, byArguments: true as const })),
  { rule: decider(last), effect: last.effect }
]
