import { unmatchedNames } from './unmatched-names.js'
import type { UpstreamLists } from './upstream-lists.js'

export interface ListLog { warn (data: object, text: string): void }

/** Logs what is wrong with the lists of upstreams, and with what is configured for them, when that changes. */
export class ListWarnings {
  readonly #log: ListLog
  readonly #scopeNames: () => string[]
  readonly #logged = new Map<string, string>()
  readonly #unmatched = new Map<string, readonly string[]>()

  /** `scopeNames` gives the names in the operator's option `scopes`. */
  constructor (log: ListLog, scopeNames: () => string[]) {
    this.#log = log
    this.#scopeNames = scopeNames
  }

  /** Looks at lists that were read; `isNew` when they are not as before. */
  add (lists: UpstreamLists, isNew: boolean): void {
    const { alias } = lists.upstream.entry
    const { warnings, stale } = lists.status
    this.#logWarnings(alias, warnings)
    // A list that did not change was compared before.
    if (!stale && (isNew || !this.#unmatched.has(alias))) this.#logUnmatched(lists)
  }

  #logWarnings (alias: string, warnings: readonly string[]): void {
    const text = warnings.join('\n')
    if (text === (this.#logged.get(alias) ?? '')) return
    this.#logged.set(alias, text)
    if (warnings.length > 0) {
      this.#log.warn({ upstream: alias, warnings }, `upstream ${alias}: some of what it lists is left out or hidden`)
    }
  }

  #logUnmatched ({ upstream: { entry }, offered }: UpstreamLists): void {
    const { alias } = entry
    const sentences = unmatchedNames(entry, offered.names(), this.#scopeNames())
    const former = this.#unmatched.get(alias) ?? []
    this.#unmatched.set(alias, sentences)
    for (const sentence of sentences) if (!former.includes(sentence)) this.#log.warn({ upstream: alias }, sentence)
  }
}
