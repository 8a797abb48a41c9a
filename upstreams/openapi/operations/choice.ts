import { fitsGlob } from '../../../lib/glob.js'
import type { OperationChoice } from '../../server-entry.js'

/** The part of an operation by which it is chosen. */
export interface Choosable {
  readonly operationId: string | undefined
  /** In capitals. */
  readonly method: string
  readonly path: string
  readonly tags: readonly string[]
}

/** The HTTP methods whose operations become tools unless an entry names others. */
const READING = ['get', 'head']

/** Finds the operations that become tools, and the patterns that none of them fits. */
export class Choice {
  readonly #methods: ReadonlySet<string>
  readonly #tags: readonly string[]
  readonly #include: readonly Pattern[]
  readonly #exclude: readonly Pattern[]
  readonly #unusedTags: Set<string>

  constructor ({ include = [], exclude = [], tags = [], methods = READING }: OperationChoice) {
    this.#methods = new Set(methods.map(method => method.toUpperCase()))
    this.#tags = tags
    this.#include = include.map(pattern => new Pattern(pattern))
    this.#exclude = exclude.map(pattern => new Pattern(pattern))
    this.#unusedTags = new Set(tags)
  }

  includes (operation: Choosable): boolean {
    // Each pattern is tried, so that those without an operation are known.
    const isIncluded = this.#include.map(pattern => pattern.fits(operation)).includes(true)
    const isExcluded = this.#exclude.map(pattern => pattern.fits(operation)).includes(true)
    for (const tag of operation.tags) this.#unusedTags.delete(tag)
    return this.#methods.has(operation.method) && !isExcluded && (this.#include.length === 0 || isIncluded) &&
      (this.#tags.length === 0 || operation.tags.some(tag => this.#tags.includes(tag)))
  }

  /** A sentence for each pattern and tag that fits no operation of the document. */
  unused (): string[] {
    const patterns = [...this.#include, ...this.#exclude].filter(({ isUsed }) => !isUsed)
    return [
      ...patterns.map(({ text }) => `no operation of its document fits "${text}" in operations`),
      ...[...this.#unusedTags].map(tag => `no operation of its document has the tag "${tag}"`)
    ]
  }
}

/** A pattern for operationIds, or for a method and a path: `issues/*`, `GET /repos/**`. */
class Pattern {
  readonly text: string
  readonly #method: string | undefined
  readonly #segments: readonly string[]
  isUsed = false

  constructor (text: string) {
    this.text = text
    const [, method, path = ''] = /^(?:([A-Za-z]+|\*)\s+)?(\/.*)$/.exec(text) ?? []
    this.#method = path === '' ? undefined : (method ?? '*').toUpperCase()
    this.#segments = path.split('/')
  }

  fits (operation: Choosable): boolean {
    const fits = this.#method === undefined
      ? operation.operationId !== undefined && fitsGlob(this.text, operation.operationId)
      : (this.#method === '*' || this.#method === operation.method) &&
        fitsSegments(this.#segments, operation.path.split('/'))
    this.isUsed ||= fits
    return fits
  }
}

/** True when the segments fit: `**` stands for any number of them. The latest `**` takes one more where they do not. */
function fitsSegments (pattern: readonly string[], segments: readonly string[]): boolean {
  let [at, inPattern, star, afterStar] = [0, 0, -1, 0]
  while (at < segments.length) {
    const wanted = pattern[inPattern]
    if (wanted === '**') {
      star = inPattern++
      afterStar = at
    } else if (wanted !== undefined && fitsGlob(wanted, segments[at] ?? '')) {
      inPattern++
      at++
    } else if (star === -1) return false
    else {
      inPattern = star + 1
      at = ++afterStar
    }
  }
  while (pattern[inPattern] === '**') inPattern++
  return inPattern === pattern.length
}
