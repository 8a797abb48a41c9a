import { isDeepStrictEqual } from 'node:util'
import { fitsGlob, mayFitFrom } from '../../../lib/glob.js'
import { didYouMean } from '../../../lib/nearest-name.js'
import type { Mcp } from '../../core/mcp.js'
import type { Kind } from '../../core/scopes.js'
import type { Selected } from '../../core/views.js'
import { CuratedView } from './curated-view.js'
import { chooseNames, type Clash } from './projected.js'
import { resourceTools } from './resource-tools.js'
import { canonicalNames, includes, patternsOf, type ViewDefinition, type ViewDefinitions } from './selection.js'

interface Log { warn (data: object, text: string): void }

const KINDS: readonly Kind[] = ['tools', 'resources', 'prompts']

/** The views of the option `views`, which are kept equal to parts of the whole gateway while it changes. */
export class CuratedViews {
  readonly #mcp: Mcp
  readonly #log: Log
  readonly #all = new Map<string, CuratedView>()
  /** Sentences that were logged; each is logged once while it is true. */
  #logged = new Set<string>()
  /** The patterns that have matched something, by view: they are not compared again. */
  readonly #matched = new Map<string, Set<string>>()

  constructor (mcp: Mcp, log: Log) {
    this.#mcp = mcp
    this.#log = log
    const { tools, prompts, resources, resources: { sources: { fixed, templates } } } = mcp
    tools.source.onChange(() => this.#sync('tools'))
    prompts.source.onChange(() => this.#sync('prompts'))
    for (const source of [fixed, templates]) source.onChange(() => this.#sync('resources'))
    for (const source of [tools.source, prompts.source, templates]) {
      source.onLimit(() => {
        for (const view of this.#all.values()) view.limitCaching()
      })
    }
    resources.onUpdated((uri, mayKnow) => {
      for (const name of this.#all.keys()) mcp.views.get(name)?.resources.updated(uri, mayKnow)
    })
    resources.onListChanged(mayKnow => {
      for (const name of this.#all.keys()) mcp.views.get(name)?.resources.listChanged(mayKnow)
    })
    mcp.views.onListsRead(() => this.#warn())
  }

  /** The short names that two things would have in views whose definition is new, as far as is known now. */
  clashesIn (definitions: ViewDefinitions): Clash[] {
    const { tools, prompts } = this.#mcp
    const isNew = ([name, definition]: [string, ViewDefinition]): boolean =>
      !isDeepStrictEqual(definition, this.#all.get(name)?.definition)
    return Object.entries(definitions)
      .filter(entry => entry[1].names === 'short' && isNew(entry))
      .flatMap(([name, definition]) => [
        ...chooseNames(
          [...tools.source.values()].filter(item => includes(definition, 'tools', item)),
          true,
          name
        ).clashes,
        ...chooseNames(
          [...prompts.source.values()].filter(item => includes(definition, 'prompts', item)),
          true,
          name
        ).clashes
      ])
  }

  /** Serves these views, and no others. A view whose definition is the same is not touched. */
  configure (definitions: ViewDefinitions): void {
    const { views, health } = this.#mcp
    for (const name of [...this.#all.keys()].filter(name => !Object.hasOwn(definitions, name))) {
      this.#all.delete(name)
      views.close(name)
      health.report(`view ${name}`, undefined)
    }
    for (const [name, definition] of Object.entries(definitions)) {
      const former = this.#all.get(name)
      if (isDeepStrictEqual(former?.definition, definition)) continue
      const view = new CuratedView(
        views.open(name),
        definition,
        this.#mcp,
        ({ resourcesAsTools }) => (resourcesAsTools === true ? resourceTools(this.#mcp) : []),
        former
      )
      this.#all.set(name, view)
      this.#matched.set(name, new Set())
      for (const kind of KINDS) view.sync(kind)
      view.limitCaching()
    }
    this.#report()
  }

  #sync (kind: Kind): void {
    for (const view of this.#all.values()) view.sync(kind)
    this.#report()
  }

  #report (): void {
    for (const [name, view] of this.#all) {
      this.#mcp.health.report(
        `view ${name}`,
        view.clashes.length === 0 ? undefined : view.clashes.map(describeClash).join('; ')
      )
    }
    this.#warn()
  }

  /** Logs names that clash, and patterns that match nothing of what is known completely. */
  #warn (): void {
    const sentences = [...this.#all].flatMap(([name, view]) => [
      ...view.clashes.map(clash => `view ${name}: ${describeClash(clash)}`),
      ...this.#unmatched(name, view.definition)
    ])
    for (const sentence of sentences) if (!this.#logged.has(sentence)) this.#log.warn({}, sentence)
    this.#logged = new Set(sentences)
  }

  #unmatched (name: string, definition: ViewDefinition): string[] {
    const { upstreams } = this.#mcp
    const matched = this.#matched.get(name) ?? new Set()
    const patterns = patternsOf(definition).filter(({ field, pattern }) => !matched.has(`${field} ${pattern}`))
    if (patterns.length === 0) return []
    const status = upstreams.status()
    const unread = status
      .filter(({ stale }) => stale)
      .map(({ alias }) => ({ alias, prefix: upstreams.get(alias)?.entry.prefix ?? `${alias}__` }))
    return patterns.flatMap(({ field, pattern }) => {
      if (
        unread.some(
          ({ alias, prefix }) => field !== 'servers' && [prefix, `${alias}+`].some(start => mayFitFrom(pattern, start))
        )
      ) { return [] }
      const known =
        field === 'servers' ? status.map(({ alias }) => alias) : this.#namesOf(field === 'exclude' ? KINDS : [field])
      if (known.some(one => fitsGlob(pattern, one))) {
        matched.add(`${field} ${pattern}`)
        return []
      }
      return [`option views.${name}.${field} has "${pattern}", which matches nothing${didYouMean(pattern, known)}`]
    })
  }

  #namesOf (kinds: readonly Kind[]): string[] {
    const { tools, prompts, resources: { sources: { fixed, templates } } } = this.#mcp
    const items: Record<Kind, Selected[]> = {
      tools: [...tools.source.values()],
      prompts: [...prompts.source.values()],
      resources: [...fixed.values(), ...templates.values()]
    }
    return kinds.flatMap(kind => items[kind].flatMap(item => canonicalNames(kind, item)))
  }
}

/** A sentence about a short name that more than one thing would have. */
export function describeClash ({ name, canonical }: Clash): string {
  return `${canonical.map(each => `"${each}"`).join(' and ')} would both be called "${name}", and keep their long names`
}
