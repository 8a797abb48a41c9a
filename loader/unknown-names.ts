import type { FastifyInstance } from 'fastify'
import { Options, type Options as Values } from '../options.js'
import { ADMIN_SCOPE, DEFAULT_SCOPES, grantingScopes, METRICS_SCOPE } from '../protocol/wire/identity.js'
import { didYouMean } from '../lib/nearest-name.js'
import { scopesInRules, unknownInRules } from './unknown-in-rules.js'

type Named = Pick<Values, 'scopes' | 'toolRates' | 'apiKeys' | 'oauth'> & Partial<Pick<Values, 'views' | 'rules'>>
type Served = Pick<FastifyInstance['mcp'], 'tools' | 'resources' | 'prompts' | 'unavailable'> & {
  readonly upstreams?: Pick<FastifyInstance['mcp']['upstreams'], 'hasLists'>
}

/** The names that an entry of an upstream server has: those that it serves are not known before it has started. */
interface UpstreamNames {
  readonly alias: string
  readonly prefix: string | undefined
  readonly scopes: readonly string[] | undefined
}

/** The scopes that the built-in tools and resources need, whether they are served or not. */
export const BUILT_IN_SCOPES = ['clipboard', 'exec', 'files', 'notes:read', 'notes:write', 'search']

/** The tools that views may have, which are no tools of the whole gateway. */
const OF_VIEWS = ['find_tools', 'describe_tools', 'call_tool', 'list_resources', 'read_resource']

/**
 * A sentence for each name in the options that matches nothing. Most are misspelt, so that a limit or a right is
 * missing.
 */
export function unknownNames (served: Served, options: Named, upstreams: readonly UpstreamNames[] = []): string[] {
  const { scopes, toolRates, apiKeys, oauth, views = {}, rules = [] } = options
  const viewNames = [...Object.keys(views), ...upstreams.map(({ alias }) => alias)]
  const tools = [...served.tools.names(), ...served.unavailable.keys()]
  const definitions = [
    ...tools.map(name => `tools/${name}`),
    ...served.resources.uris().map(uri => `resources/${uri}`),
    ...served.prompts.names().map(name => `prompts/${name}`)
  ]
  const grantable = grantableScopes([
    ...scopesInUse(served, options),
    ...upstreams.flatMap(({ scopes = [] }) => scopes)
  ])
  return [
    ...without(Object.keys(scopes), definitions)
      .filter(name => !mayBeServed(name, upstreams))
      .map(name => `option scopes has "${name}", and there is no such thing here${didYouMean(name, definitions)}`),
    ...without(
      Object.keys(toolRates).filter(name => !isPreset(name, toolRates)),
      tools
    )
      .filter(name => !mayBeServed(`tools/${name}`, upstreams))
      .map(name => `option toolRates has "${name}", and there is no such tool here${didYouMean(name, tools)}`),
    ...apiKeys.flatMap(({ name, scopes }) =>
      without(scopes, [...grantable, ...scopesInRules(rules)]).map(
        scope =>
          `option apiKeys: the key of ${name} has the scope "${scope}", and nothing here asks for it${didYouMean(scope, grantable)}`
      )
    ),
    ...apiKeys.flatMap(({ name, view }) =>
      view === undefined || viewNames.includes(view)
        ? []
        : [
            `option apiKeys: the key of ${name} is for the view "${view}", and there is no such view, so that it sees nothing${didYouMean(view, viewNames)}`
          ]
    ),
    ...unknownInRules(rules, {
      names: [...tools, ...OF_VIEWS, ...served.resources.uris(), ...served.prompts.names()],
      starts: upstreams.flatMap(({ alias, prefix = `${alias}__` }) => {
        const isListed = served.upstreams?.hasLists(alias) === true
        return [prefix, `${alias}+`].map(start => ({ start, alias, isListed }))
      }),
      views: viewNames,
      keys: apiKeys.length > 0 && oauth === undefined ? apiKeys.map(({ name }) => name) : undefined,
      hasKeys: apiKeys.length > 0,
      hasTokens: oauth !== undefined,
      scopes: apiKeys.length > 0 && oauth === undefined
        ? [...grantable, ...apiKeys.flatMap(({ scopes }) => scopes)]
        : undefined,
      schemaOf: name => schemaOf(served.tools.get(name))
    })
  ]
}

/**
 * True for a name that an upstream server may have: its prefix is in front of tools and prompts, and resources have any
 * URI.
 */
function mayBeServed (name: string, upstreams: readonly UpstreamNames[]): boolean {
  const [, kind = '', rest = ''] = /^([a-z]+)\/(.*)$/s.exec(name) ?? []
  return kind === 'resources'
    ? upstreams.length > 0
    : upstreams.some(({ alias, prefix = `${alias}__` }) => rest.startsWith(prefix))
}

/** A sentence for each scope that neither the built-in tools nor the options need. */
export function unknownScopes (
  scopes: string[],
  { scopes: operatorScopes, oauth, views }: Pick<Partial<Values>, 'scopes' | 'oauth' | 'views'>
): string[] {
  const grantable = grantableScopes([
    ...Object.values(operatorScopes ?? {}).flat(),
    ...Object.values(views ?? {}).flatMap(({ scopes: needed = [] }) => needed),
    ...(oauth?.scopes ?? [])
  ])
  return without(scopes, grantable).map(
    scope => `nothing built in asks for the scope "${scope}"${didYouMean(scope, grantable) || '; a tool of yours may'}`
  )
}

/** The input schema of a tool under its own arguments; undefined where an override has others. */
const schemaOf = (tool: ReturnType<Served['tools']['get']>): unknown =>
  tool === undefined || tool.toOwnArguments !== undefined ? undefined : tool.listed.inputSchema

/** The scopes that what is served needs, set by its authors or by the operator. */
function scopesInUse ({ tools, resources, prompts }: Served, { scopes, oauth, views = {} }: Named): string[] {
  const served = [
    ...tools.names().map(name => tools.get(name)),
    ...resources.uris().map(uri => resources.get(uri)),
    ...prompts.names().map(name => prompts.get(name))
  ]
  return [
    ...served.flatMap(item => item?.scopes ?? []),
    ...Object.values(scopes).flat(),
    ...Object.values(views).flatMap(({ scopes: needed = [] }) => needed),
    ...(oauth?.scopes ?? [])
  ]
}

/** Every scope that grants one of these or a built-in one. */
function grantableScopes (needed: string[]): Set<string> {
  return new Set([
    ...DEFAULT_SCOPES,
    ADMIN_SCOPE,
    METRICS_SCOPE,
    ...[...BUILT_IN_SCOPES, ...needed].flatMap(grantingScopes)
  ])
}

const isPreset = (name: string, toolRates: Values['toolRates']): boolean =>
  (Options.properties.toolRates.default as Values['toolRates'])[name] === toolRates[name]

function without (names: string[], known: Iterable<string>): string[] {
  const all = new Set(known)
  return names.filter(name => !all.has(name))
}
