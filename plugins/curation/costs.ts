import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { canonicalName } from '../../protocol/definitions/common-members.js'
import { clientRemarks } from '../../protocol/known-clients.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { ADMIN_SCOPE } from '../../protocol/wire/identity.js'
import type { Mcp } from '../core/mcp.js'
import type { View } from '../core/views.js'
import { costOf, costsOf, originalOf, sumOfTokens, type ListedTool, type ToolCost } from './costs/definition-costs.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Estimates what the definitions cost that clients are given, for operators. */
    costs: {
      /** Of everything, of each view, and of each upstream server. */
      ofViews: () => Promise<ViewCost[]>
      /** Of each tool of a view, or of everything; undefined when there is no such view. */
      ofTools: (view: string | undefined) => Promise<ToolCost[] | undefined>
    }
  }
}

/** A part of the gateway with a URL of its own, how much it has, and what that costs. */
export interface ViewCost {
  /** Absent for everything. */
  readonly name?: string
  readonly kind: 'all' | 'view' | 'server'
  readonly description?: string
  /** Behind the prefix of the gateway. */
  readonly path: string
  readonly tools: number
  /** Tools that are not listed, and found by search. */
  readonly found?: number
  /** With templates. */
  readonly resources: number
  readonly prompts: number
  /** An estimate of the tokens of the definitions of its tools. */
  readonly tokens: number
  /** Sentences about clients that would not take all of its tools. */
  readonly remarks: readonly string[]
}

/** To callers without the scope, the methods do not exist. */
const FOR_OPERATORS = { scopes: [ADMIN_SCOPE], hidden: true }

const Named = Type.Object({ name: Type.String({ maxLength: 1_024 }) })

type Part = Pick<View, 'tools' | 'resources' | 'prompts'>

/**
 * Tells operators what clients are given: `patchbay/views` lists the views with their costs, and `patchbay/views/tool`
 * gives a tool of the caller's view as it is listed there and as it was before. A caller that is bound to a view hears
 * of that one alone.
 */
export default fp(async ({ mcp }) => {
  const { scopes, views } = mcp

  mcp.provide('costs', {
    ofViews: async () => await costsOfViews(mcp),
    ofTools: async view => {
      const part = partOf(mcp, view)
      return part && await costsOf(listWithWholes(mcp, part))
    }
  })

  mcp.method('patchbay/views', Type.Object({}), async (_params, { identity: { view: bound } }) => {
    const all = await costsOfViews(mcp)
    return { views: bound === undefined ? all : all.filter(({ name }) => name === bound) }
  }, FOR_OPERATORS)

  mcp.method('patchbay/views/tool', Named, async ({ name }, call) => {
    const shown = find(name, call)
    if (shown === undefined) throw errors.unknownTool(name)
    return { ...costOf(shown), listed: shown.tool.listed, original: originalOf(shown) }
  }, FOR_OPERATORS)

  /** The tool of that name, if the caller sees it. */
  function find (name: string, call: Call): ListedTool | undefined {
    const { view } = call.peer
    const tool = (view === undefined ? mcp : views.get(view))?.tools.get(name)
    return tool === undefined || !scopes.allows(call, 'tools', tool.name, tool) ? undefined : pairWithWhole(mcp, tool)
  }
}, {
  name: 'patchbay-costs',
  dependencies: [
    'patchbay-mcp',
    'patchbay-prompts',
    'patchbay-resources',
    'patchbay-scopes',
    'patchbay-tools',
    'patchbay-views'
  ]
})

async function costsOfViews (mcp: Mcp): Promise<ViewCost[]> {
  const open = mcp.views.names().flatMap(name => mcp.views.get(name) ?? [])
  const costs: ViewCost[] = [{ kind: 'all', path: '/mcp', ...(await costOfPart(mcp)) }]
  for (const kind of ['view', 'server'] as const) {
    for (const view of open.filter(({ selection }) => (selection === undefined ? 'server' : 'view') === kind)) {
      const { name, description } = view
      costs.push({
        name,
        kind,
        ...(description !== undefined && { description }),
        path: `/mcp/${name}`,
        ...(await costOfPart(view))
      })
    }
  }
  return costs
}

async function costOfPart (part: Part): Promise<Omit<ViewCost, 'kind' | 'path'>> {
  const tools = listTools(part)
  const found = [...part.tools.source.values()].length - tools.length
  const { fixed, templates } = part.resources.sources
  return {
    tools: tools.length,
    ...(found > 0 && { found }),
    resources: [...fixed.values()].length + [...templates.values()].length,
    prompts: [...part.prompts.source.values()].length,
    tokens: await sumOfTokens(tools),
    remarks: clientRemarks(tools.map(({ name }) => name)).map(({ text }) => text)
  }
}

const partOf = (mcp: Mcp, view: string | undefined): Part | undefined =>
  view === undefined ? mcp : mcp.views.get(view)

/** The tools that clients are given, in the order in which they are. */
const listWithWholes = (mcp: Mcp, part: Part): ListedTool[] =>
  listTools(part).map(tool => pairWithWhole(mcp, tool))

const listTools = ({ tools }: Part): Tool[] => tools.source.page(undefined, Infinity).items

const pairWithWhole = (mcp: Mcp, tool: Tool): ListedTool => ({ tool, whole: mcp.tools.get(canonicalName(tool)) })
