import { isDeepStrictEqual } from 'node:util'
import { fitsGlob, mayFitFrom } from '../../../lib/glob.js'
import { didYouMean } from '../../../lib/nearest-name.js'
import { canonicalNames } from '../../../protocol/definitions/common-members.js'
import { fixedTexts } from '../../../protocol/definitions/overrides/override.js'
import type { Mcp } from '../../core/mcp.js'
import type { Kind } from '../../core/scopes.js'
import type { Selected } from '../../core/views.js'
import type { ViewSearch } from '../search/view-search.js'
import { CuratedView } from './curated-view.js'
import { chooseNames, hasOwnNames, type Clash } from './projection.js'
import { resourceTools } from './resource-tools.js'
import {
  includes,
  patternsOf,
  searchIn,
  type ViewDefinition,
  type ViewDefinitions
} from './selection.js'
import { choiceOf, ServedChoices } from './served-choices.js'

interface Log { warn (data: object, text: string): void }

const KINDS: readonly Kind[] = ['tools', 'resources', 'prompts']

/** The views of the option `views`, which are kept equal to parts of the whole gateway while it changes. */
export class CuratedViews {
  readonly #mcp: Mcp
  readonly #log: Log
  readonly #all = new Map<string, CuratedView>()
  readonly #served: ServedChoices
  /** Sentences about clashes that were logged; each is logged once while it is true. */
  #logged = new Set<string>()
  /** The patterns that have matched something, or were logged, by view: they are not compared again. */
  readonly #decided = new Map<string, Set<string>>()

  constructor (mcp: Mcp, log: Log) {
    this.#mcp = mcp
    this.#log = log
    this.#served = new ServedChoices(mcp.store.values)
    const { tools, prompts, resources, resources: { sources: { fixed, templates } } } = mcp
    tools.source.onItems(change => this.#each(view => view.applyTools(change)))
    prompts.source.onItems(change => this.#each(view => view.applyPrompts(change)))
    for (const source of [fixed, templates]) source.onChange(() => this.#each(view => view.sync('resources')))
    for (const source of [tools.source, prompts.source, templates]) {
      source.onLimit(() => {
        for (const view of this.#all.values()) view.limitCaching()
      })
    }
    resources.onUpdated((uri, mayKnow) => {
      for (const name of this.#all.keys()) mcp.views.get(name)?.resources.updated(uri, mayKnow)
    })
    resources.onListChanged(mayKnow => {
      for (const [name, { listsBehindTemplates }] of this.#all) {
        if (listsBehindTemplates) mcp.views.get(name)?.resources.listChanged(mayKnow)
      }
    })
    mcp.views.onListsRead(() => {
      // The words of servers are read with their lists.
      for (const view of this.#all.values()) view.renewSearch()
      this.#warnOfPatterns()
    })
  }

  /**
   * The names that two things would have in views whose choice of things is new, as far as is known now. A view
   * that was served as it is, by this process or one before it, is left out: what clashes in it came later.
   */
  async clashesIn (definitions: ViewDefinitions): Promise<Clash[]> {
    const isNew = ([name, definition]: [string, ViewDefinition]): boolean =>
      choiceOf(definition) !== choiceOf(this.#all.get(name)?.definition ?? {})
    const clashes = Object.entries(definitions)
      .filter(entry => hasOwnNames(entry[1]) && isNew(entry))
      .flatMap(([name, definition]) => this.#clashesOf(name, definition))
    if (clashes.length === 0) return []
    const served = await this.#served.load()
    return clashes.filter(({ view }) => served[view] !== choiceOf(definitions[view] ?? {}))
  }

  /** Sentences for operators about names that clash, by view. */
  clashes (): Record<string, string[]> {
    return Object.fromEntries(
      [...this.#all].flatMap(([name, { clashes }]) =>
        clashes.length === 0 ? [] : [[name, clashes.map(describeClash)]]
      )
    )
  }

  /** Serves these views, and no others. A view whose definition is the same is not touched. */
  async configure (definitions: ViewDefinitions): Promise<void> {
    const { views } = this.#mcp
    views.addFixedTexts(Object.values(definitions).flatMap(({ override = {} }) => fixedTexts(override)))
    this.closeOthers(Object.keys(definitions))
    for (const [name, definition] of Object.entries(definitions)) {
      const former = this.#all.get(name)
      if (isDeepStrictEqual(former?.definition, definition)) continue
      // Before the former one ends: the index stays.
      const search = this.#searchOf(name, definition)
      former?.close()
      const view = new CuratedView(
        views.open(name),
        definition,
        this.#mcp,
        definition.resourcesAsTools === true ? resourceTools(this.#mcp) : [],
        former,
        search
      )
      this.#all.set(name, view)
      this.#decided.set(name, new Set())
      for (const kind of KINDS) view.sync(kind)
      view.limitCaching()
    }
    this.#report()
    this.#warnOfPatterns()
    await this.#served.save(definitions)
  }

  /** Closes the views that have none of these names. */
  closeOthers (names: readonly string[]): void {
    const { views, health } = this.#mcp
    for (const name of [...this.#all.keys()].filter(name => !names.includes(name))) {
      this.#all.get(name)?.close()
      this.#all.delete(name)
      views.close(name)
      health.report(`view ${name}`, undefined)
    }
  }

  #searchOf (name: string, definition: ViewDefinition): ViewSearch | undefined {
    const { limit } = searchIn(definition) ?? {}
    const { readOnly: isReadOnly = false } = definition
    return limit === undefined ? undefined : this.#mcp.search.open(name, { limit, isReadOnly })
  }

  #each (apply: (view: CuratedView) => void): void {
    for (const view of this.#all.values()) apply(view)
    this.#report()
  }

  /** Tells of clashes: the log with the names, which not every caller of /health may know. */
  #report (): void {
    for (const [name, { clashes, clashes: { length } }] of this.#all) {
      const [short, long] = clashes.every(({ isShort }) => isShort) ? ['short ', 'long '] : ['', '']
      const what = length === 1 ? `a ${short}name` : `${length} ${short}names`
      this.#mcp.health.report(
        `view ${name}`,
        length === 0 ? undefined : `${what} would be that of several things, which keep their ${long}names`
      )
    }
    const sentences = [...this.#all].flatMap(([name, { clashes, failures, tools: { oddities } }]) => [
      ...failures.map(failure => `view ${name}: ${failure}`),
      ...clashes.map(clash => `view ${name}: ${describeClash(clash)}; exclude one of them, or ${remedyOf(clash)}`),
      ...oddities.map(odd => `option views.${name}.override.${odd.name}: ${odd.problem}`)
    ])
    for (const sentence of sentences) if (!this.#logged.has(sentence)) this.#log.warn({}, sentence)
    this.#logged = new Set(sentences)
  }

  /** Logs patterns that match nothing of what is known completely. */
  #warnOfPatterns (): void {
    for (const [name, { definition }] of this.#all) {
      for (const sentence of this.#describeUnmatched(name, definition)) this.#log.warn({}, sentence)
    }
  }

  #clashesOf (view: string, definition: ViewDefinition): Clash[] {
    const { tools, prompts } = this.#mcp
    return [
      chooseNames([...tools.source.values()].filter(each => includes(definition, 'tools', each)), definition, view),
      chooseNames([...prompts.source.values()].filter(each => includes(definition, 'prompts', each)), definition, view)
    ].flatMap(({ clashes }) => clashes)
  }

  #describeUnmatched (name: string, definition: ViewDefinition): string[] {
    const { upstreams } = this.#mcp
    const decided = this.#decided.get(name) ?? new Set()
    const patterns = patternsOf(definition).filter(({ field, pattern }) => !decided.has(`${field} ${pattern}`))
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
        field === 'servers' ? status.map(({ alias }) => alias) : this.#namesOf(kindsOf(field))
      decided.add(`${field} ${pattern}`)
      if (known.some(one => field === 'override' ? one === pattern : fitsGlob(pattern, one))) return []
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

/** The kinds of things that a field of a view names. */
function kindsOf (field: Kind | 'exclude' | 'search.always' | 'override'): readonly Kind[] {
  if (field === 'exclude') return KINDS
  return [field === 'search.always' || field === 'override' ? 'tools' : field]
}

const remedyOf = ({ isShort }: Clash): string => (isShort ? 'use long names' : 'choose another name')

/** Describes a name that more than one thing would have. */
function describeClash ({ name, canonical, isShort }: Clash): string {
  const kept = isShort ? 'long names' : 'names'
  return `${canonical.map(each => `"${each}"`).join(' and ')} would both be called "${name}", and keep their ${kept}`
}
