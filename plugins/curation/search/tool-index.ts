import { setImmediate } from 'node:timers/promises'
import { isObject } from '../../../protocol/wire/json.js'
import type { Posting, RankedTexts } from './ranker.js'
import { splitName, termsOf, weighTerms, WEIGHTS, type SearchedTool, type TermsOf, type Weights } from './terms.js'

/** How long tools are indexed in one turn of the event loop, in milliseconds. */
const SLICE = 1

/** A tool of the index, with the terms it has. */
interface Entry { readonly slot: number, readonly tool: SearchedTool, readonly terms: string[] }

/**
 * The index that all callers search. It takes changes as a difference, and works on them in turns of the event loop
 * that are short, whatever their number.
 */
export class ToolIndex implements RankedTexts {
  readonly postings = new Map<string, Posting>()
  readonly names: Array<string | undefined> = []
  readonly lengths: number[] = []
  readonly unit: number
  readonly termsOf: TermsOf
  totalLength = 0
  readonly #weights: Weights
  readonly #entries = new Map<string, Entry>()
  /** Slots by the names that queries may call a tool by, in small letters. */
  readonly #called = new Map<string, number[]>()
  readonly #free: number[] = []
  /** Changes that are not in the index yet, by key: a tool, or undefined for one that is gone. */
  #queued = new Map<string, SearchedTool | undefined>()
  /** Ends when all changes of which work began are in the index. */
  #work: Promise<void> = Promise.resolve()
  /** Ends when those are that are queued; undefined when none are. */
  #next: Promise<void> | undefined

  /** Other weights and terms than those of Patchbay are for comparisons. */
  constructor (weights: Weights = WEIGHTS, divide: TermsOf = termsOf) {
    this.#weights = weights
    this.termsOf = divide
    this.unit = weights.description
  }

  get count (): number { return this.#entries.size }

  slotsOf (name: string): readonly number[] { return this.#called.get(name) ?? [] }

  /** Takes tools away by their keys, and adds tools or replaces them. Returns before that is done. */
  change (removed: Iterable<string>, put: Iterable<SearchedTool>): void {
    for (const key of removed) this.#queued.set(key, undefined)
    for (const tool of put) this.#queued.set(tool.key ?? tool.name, tool)
    if (this.#queued.size > 0) this.#work = this.#next ??= this.#work.then(async () => await this.#applyQueued())
  }

  /** Waits until every change that was made so far is in the index. Later changes do not lengthen it. */
  async settled (): Promise<void> {
    await this.#work
  }

  async #applyQueued (): Promise<void> {
    await setImmediate()
    const changes = this.#queued
    this.#queued = new Map()
    this.#next = undefined
    let begun = performance.now()
    for (const [key, tool] of changes) {
      if (tool === undefined || this.#entries.get(key)?.tool.listed !== tool.listed) this.#replace(key, tool)
      if (performance.now() - begun < SLICE) continue
      await setImmediate()
      begun = performance.now()
    }
  }

  #replace (key: string, tool: SearchedTool | undefined): void {
    const former = this.#entries.get(key)
    if (former !== undefined) this.#remove(key, former)
    if (tool !== undefined && isForModels(tool.listed)) this.#add(tool)
  }

  #add (tool: SearchedTool): void {
    const slot = this.#free.pop() ?? this.names.length
    const terms = weighTerms(tool, this.#weights, this.termsOf)
    let length = 0
    for (const [term, count] of terms) {
      length += count
      const posting = this.postings.get(term)
      if (posting === undefined) this.postings.set(term, { slots: [slot], counts: [count] })
      else {
        posting.slots.push(slot)
        posting.counts.push(count)
      }
    }
    const key = tool.key ?? tool.name
    this.names[slot] = key
    this.lengths[slot] = length
    this.totalLength += length
    this.#entries.set(key, { slot, tool, terms: [...terms.keys()] })
    for (const name of namesOf(tool)) this.#called.set(name, [...this.slotsOf(name), slot])
  }

  #remove (key: string, { slot, tool, terms }: Entry): void {
    for (const term of terms) {
      const { slots, counts } = this.postings.get(term) as Posting
      if (slots.length === 1) this.postings.delete(term)
      else takeOut(slots, counts, slots.indexOf(slot))
    }
    for (const called of namesOf(tool)) {
      const others = this.slotsOf(called).filter(other => other !== slot)
      if (others.length > 0) this.#called.set(called, others)
      else this.#called.delete(called)
    }
    this.names[slot] = undefined
    this.totalLength -= this.lengths[slot] ?? 0
    this.lengths[slot] = 0
    this.#entries.delete(key)
    this.#free.push(slot)
  }
}

/** Puts the last element in the place of one that goes: the order of a posting means nothing. */
function takeOut (slots: number[], counts: number[], at: number): void {
  const [slot, count] = [slots.pop() as number, counts.pop() as number]
  if (at === slots.length) return
  slots[at] = slot
  counts[at] = count
}

/** False for a tool that only the user interface of an app may call. */
function isForModels ({ _meta }: SearchedTool['listed']): boolean {
  const ui = isObject(_meta) ? _meta.ui : undefined
  const visibility = isObject(ui) ? ui.visibility : undefined
  return !Array.isArray(visibility) || visibility.includes('model')
}

function namesOf ({ name, listed }: SearchedTool): Set<string> {
  const [, bare] = splitName(name)
  return new Set([name, bare, ...typeof listed.name === 'string' ? [listed.name] : []].map(each => each.toLowerCase()))
}
