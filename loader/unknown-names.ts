import type { FastifyInstance } from 'fastify'
import { Options, type Options as Values } from '../options.js'
import { DEFAULT_SCOPES, grantingScopes, ADMIN_SCOPE } from '../protocol/wire/identity.js'
import { didYouMean } from '../lib/nearest-name.js'

type Named = Pick<Values, 'scopes' | 'toolRates' | 'apiKeys' | 'oauth'>
type Served = Pick<FastifyInstance['mcp'], 'tools' | 'resources' | 'prompts' | 'unavailable'>

/** The scopes that the built-in tools and resources ask for, whether they are served or not. */
export const BUILT_IN_SCOPES = ['clipboard', 'exec', 'files', 'notes:read', 'notes:write', 'search']

/** A sentence for each name in the options that fits nothing: most are misspelt, and then a limit or a right is not where it was meant to be. */
export function unknownNames (served: Served, options: Named): string[] {
  const { scopes, toolRates, apiKeys } = options
  const tools = [...served.tools.names(), ...served.unavailable.keys()]
  const things = [...tools.map(name => `tools/${name}`), ...served.resources.uris().map(uri => `resources/${uri}`), ...served.prompts.names().map(name => `prompts/${name}`)]
  const granted = grantable(askedFor(served, options))
  return [
    ...without(Object.keys(scopes), things).map(name => `option scopes has "${name}", and there is no such thing here${didYouMean(name, things)}`),
    ...without(Object.keys(toolRates).filter(name => !isPreset(name, toolRates)), tools).map(name => `option toolRates has "${name}", and there is no such tool here${didYouMean(name, tools)}`),
    ...apiKeys.flatMap(({ name, scopes }) => without(scopes, granted).map(scope => `option apiKeys: the key of ${name} has the scope "${scope}", and nothing here asks for it${didYouMean(scope, granted)}`))
  ]
}

/** Sentences about scopes that neither the built-in tools nor the options ask for. */
export function unknownScopes (scopes: string[], { scopes: said, oauth }: Pick<Partial<Values>, 'scopes' | 'oauth'>): string[] {
  const granted = grantable([...Object.values(said ?? {}).flat(), ...oauth?.scopes ?? []])
  return without(scopes, granted).map(scope => `nothing built in asks for the scope "${scope}"${didYouMean(scope, granted) || '; a tool of yours may'}`)
}

/** What the things that are served ask for: what the operator says, or else their author. */
function askedFor ({ tools, resources, prompts }: Served, { scopes, oauth }: Named): string[] {
  const authors = [...tools.names().map(name => tools.get(name)), ...resources.uris().map(uri => resources.get(uri)), ...prompts.names().map(name => prompts.get(name))]
  return [...authors.flatMap(item => item?.scopes ?? []), ...Object.values(scopes).flat(), ...oauth?.scopes ?? []]
}

/** Every name under which what is asked for can be granted. */
function grantable (asked: string[]): Set<string> {
  return new Set([...DEFAULT_SCOPES, ADMIN_SCOPE, ...[...BUILT_IN_SCOPES, ...asked].flatMap(grantingScopes)])
}

const isPreset = (name: string, toolRates: Values['toolRates']): boolean =>
  (Options.properties.toolRates.default as Values['toolRates'])[name] === toolRates[name]

function without (names: string[], known: Iterable<string>): string[] {
  const all = new Set(known)
  return names.filter(name => !all.has(name))
}
