import { didYouMean } from '../../lib/nearest-name.js'
import type { ServerEntry } from '../server-entry.js'
import { fitsGlob } from '../../lib/glob.js'
import { prefixesOf } from './offers/names.js'
import { isMatchable } from './offers/resource-definitions.js'
import type { Entry } from './reading/kinds.js'
import { quote, Warnings } from './reading/warnings.js'

/** The names of the tools that an upstream has, and under which names its tools and prompts are served. */
export interface ListedNames {
  readonly own: readonly string[]
  readonly tools: readonly string[]
  readonly prompts: readonly string[]
  /** Sentences about overrides that do not fit their tool, by its own name. */
  readonly oddities: ReadonlyArray<{ readonly name: string, readonly problem: string }>
}

/**
 * A sentence for each name in the configuration of a server, and of the option `scopes` for it, that matches nothing.
 * Most are misspelt, so that a tool is missing, or is served to callers who must not have it.
 */
export function unmatchedNames (
  entry: ServerEntry,
  { own, tools, prompts, oddities }: ListedNames,
  scopeNames: readonly string[]
): string[] {
  const { alias, name, source } = entry
  const prefixes = Object.values(prefixesOf(entry)).filter(prefix => prefix !== '')
  const globs = (['includeTools', 'excludeTools'] as const).flatMap(field =>
    entry[field].map(glob => ({ field, glob }))
  )
  const overridden = Object.keys(entry.override ?? {}).filter(tool => !own.includes(tool))
  const served = new Set([...tools.map(tool => `tools/${tool}`), ...prompts.map(prompt => `prompts/${prompt}`)])
  const scoped = scopeNames.filter(
    key => /^(tools|prompts)\//.test(key) && prefixes.some(prefix => key.startsWith(prefix, key.indexOf('/') + 1))
  )
  return [
    ...globs
      .filter(({ glob }) => !own.some(tool => fitsGlob(glob, tool)))
      .map(
        ({ field, glob }) =>
          `${source}: server "${name}": ${field} has "${glob}", which matches none of its tools${didYouMean(glob, own.filter(isPlain))}`
      ),
    ...overridden.map(
      tool =>
        `${source}: server "${name}": override has "${tool}", which is none of its tools${didYouMean(tool, own.filter(isPlain))}`
    ),
    ...oddities.map(odd => `${source}: server "${name}": override of "${odd.name}": ${odd.problem}`),
    ...scoped
      .filter(key => !served.has(key))
      .map(
        key => `option scopes has "${key}", and the upstream ${alias} serves no such thing${didYouMean(key, served)}`
      )
  ]
}

/** Other names of upstreams are not repeated: they may have anything in them. */
const isPlain = (name: string): boolean => /^[\w./-]{1,128}$/.test(name)

/** Sentences about the templates by which no URI is found. */
export function unmatchedTemplates (templates: readonly Entry[]): string[] {
  const warnings = new Warnings()
  for (const entry of templates) {
    if (!isMatchable(entry)) {
      warnings.add(() => `resource template ${quote(entry.uriTemplate)} is listed, but no URI is found by it`)
    }
  }
  return warnings.list()
}
